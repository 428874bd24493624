package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	_ "modernc.org/sqlite" // the driver "sqlite"
	sqlite "modernc.org/sqlite"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// formatVersion is the version of the tables. An index of another version is rebuilt.
const formatVersion = 1

// fileName is the name of the database in its folder.
const fileName = "search.db"

// busyMillis is the time to wait for the lock of another process, in milliseconds.
const busyMillis = 30_000

// An Index is a full-text index of an archive, made by [Open]. It is safe for
// concurrent use, also by several processes.
type Index struct {
	a    storage.Archive
	path string
	db   *sql.DB
}

var _ record.TextIndex = (*Index)(nil)

// Folder returns the folder for the index of an archive: beside the sessions if the
// archive is a writable folder, else in the user's cache folder, under a name derived
// from the location of the archive.
func Folder(a storage.Archive) (string, error) {
	if dir, ok := beside(a); ok && writable(dir) {
		return dir, nil
	}
	return inCache(a)
}

// Existing returns the folders on this machine in which this user has an index of an
// archive. They include an index that was made under another path of the archive, such
// as a symbolic link or another mount, if that path still leads to the archive.
func Existing(a storage.Archive) (folders []string) {
	add := func(dir string) {
		if Exists(dir) && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	if dir, ok := beside(a); ok {
		add(dir)
	}
	cache, err := indexes()
	if err != nil {
		return folders
	}
	add(filepath.Join(cache, nameFor(whereIs(a))))
	add(filepath.Join(cache, nameFor(asSpelled(a))))
	here, err := os.Stat(whereIs(a))
	if err != nil {
		return folders // the archive is not on a disk here
	}
	entries, _ := os.ReadDir(cache) // without a cache folder there are no more indexes
	for _, e := range entries {
		path, err := os.ReadFile(filepath.Join(cache, e.Name(), originName))
		if err != nil {
			continue
		}
		if there, err := os.Stat(string(path)); err == nil && os.SameFile(here, there) {
			add(filepath.Join(cache, e.Name()))
		}
	}
	return folders
}

func beside(a storage.Archive) (string, bool) {
	if b, ok := a.(interface{ IndexFolder() string }); ok {
		return b.IndexFolder(), true
	}
	return "", false
}

// indexes returns the folder of all indexes in the user's cache.
func indexes() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("search: there is no folder for the index: %w", err)
	}
	return filepath.Join(cache, "compact", "index"), nil
}

func inCache(a storage.Archive) (string, error) {
	cache, err := indexes()
	return filepath.Join(cache, nameFor(whereIs(a))), err
}

// originName is the name of the file beside a cached index that holds the location of
// its archive.
const originName = "archive"

func nameFor(location string) string {
	sum := sha256.Sum256([]byte(location))
	return hex.EncodeToString(sum[:12])
}

// asSpelled returns the location of an archive in the archive's own spelling. It is
// the basis of the cached index's name if the archive is not on a disk. Version 0.1.0
// used it for the names of all cached indexes.
func asSpelled(a storage.Archive) string {
	name := ""
	if l, ok := a.(storage.Locator); ok {
		name = l.Location(storage.Key{})
	}
	if abs, err := filepath.Abs(name); err == nil && filepath.IsLocal(name) {
		name = abs
	}
	return name
}

// whereIs returns the full path of an archive on a disk, without symbolic links; for any
// other archive it returns the location that the archive states.
func whereIs(a storage.Archive) string {
	name := asSpelled(a)
	path, err := filepath.Abs(name)
	if err == nil && name != "" {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil || name == "" {
		return name
	}
	return path
}

// writable reports whether a folder exists, or can be made, and takes new files.
func writable(dir string) bool {
	if os.MkdirAll(dir, 0o700) != nil {
		return false
	}
	f, err := os.CreateTemp(dir, "try")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// Exists reports whether there is an index in a folder.
func Exists(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, fileName))
	return err == nil
}

// Remove removes the index in a folder. A missing index is not an error.
func Remove(folder string) error {
	var errs []error
	for _, name := range []string{fileName, fileName + "-journal", fileName + "-wal", fileName + "-shm", originName} {
		if err := os.Remove(filepath.Join(folder, name)); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Open opens the index of an archive in a folder. If the folder has no usable index,
// Open makes an empty one, and the first search or [Index.Update] fills it.
func Open(ctx context.Context, a storage.Archive, folder string) (*Index, error) {
	x, err := open(ctx, a, folder)
	if errors.Is(err, errUnusable) {
		if err := Remove(folder); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		x, err = open(ctx, a, folder)
	}
	if err != nil {
		return nil, fmt.Errorf("search: index in %s: %w", folder, err)
	}
	return x, nil
}

// errUnusable means that the file is not an index of this version.
var errUnusable = errors.New("the index is damaged, or of another version")

func open(ctx context.Context, a storage.Archive, folder string) (*Index, error) {
	path := filepath.Join(folder, fileName)
	if err := private(folder, path); err != nil {
		return nil, err
	}
	if own, err := inCache(a); err == nil && own == folder {
		if err := sayOrigin(filepath.Join(folder, originName), whereIs(a)); err != nil {
			return nil, err
		}
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyMillis), "journal_mode(DELETE)", "secure_delete(ON)", "temp_store(MEMORY)", "cache_size(-65536)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	x := &Index{a: a, path: path, db: db}
	err = x.prepare(ctx)
	if err == nil {
		err = x.clean(ctx) // another process may have ended before it cleaned the file
	}
	if err != nil {
		return nil, errors.Join(unusable(err), db.Close())
	}
	return x, nil
}

// private makes the folder and the file so that only this user can read them.
func private(folder, path string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func sayOrigin(path, location string) error {
	if said, err := os.ReadFile(path); err == nil && string(said) == location {
		return nil
	}
	return os.WriteFile(path, []byte(location), 0o600)
}

// unusable wraps [errUnusable] around an error of the file itself, not around a
// temporary error, for example of a locked file.
func unusable(err error) error {
	const damaged, notDB, schema = 11, 26, 1 // SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		if code := e.Code() & 0xff; code == damaged || code == notDB || code == schema {
			return fmt.Errorf("%w (%w)", errUnusable, err)
		}
	}
	return err
}

// schema makes the tables. The rows of a session in said have consecutive ids. A
// session that was indexed later has higher ids.
const schema = `
CREATE TABLE fact (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE session (
	id INTEGER PRIMARY KEY, dir TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, files TEXT NOT NULL, logs TEXT NOT NULL, newest INTEGER NOT NULL,
	first INTEGER NOT NULL, last INTEGER NOT NULL, unread TEXT NOT NULL);
CREATE TABLE worked (session INTEGER NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, PRIMARY KEY (session, agent, model)) WITHOUT ROWID;
CREATE TABLE said (
	id INTEGER PRIMARY KEY, session INTEGER NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL, turn INTEGER NOT NULL,
	role TEXT NOT NULL, tool TEXT NOT NULL, agent TEXT, model TEXT, file TEXT NOT NULL, line INTEGER NOT NULL, ref TEXT NOT NULL);
CREATE VIRTUAL TABLE word USING fts5(text, content='said', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE known USING fts5vocab(word, row);
INSERT INTO word(word, rank) VALUES('secure-delete', 1);
`

// prepare makes the tables of a new index.
func (x *Index) prepare(ctx context.Context) error {
	var version int
	if err := x.db.QueryRowContext(ctx, `SELECT value FROM fact WHERE name = 'version'`).Scan(&version); err == nil && version == formatVersion {
		return nil // without a lock
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	var tables int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		return err
	}
	if tables > 0 {
		err := tx.QueryRowContext(ctx, `SELECT value FROM fact WHERE name = 'version'`).Scan(&version)
		if err == nil && version != formatVersion {
			err = errUnusable
		}
		return err
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO fact VALUES ('version', ?)`, formatVersion); err != nil {
		return err
	}
	return tx.Commit()
}

// Close cleans the file of forgotten sessions and closes the index.
func (x *Index) Close() error {
	return errors.Join(x.clean(context.Background()), x.db.Close())
}

// Path returns the path of the database.
func (x *Index) Path() string { return x.path }

// Stats describes the content of an index.
type Stats struct {
	Sessions int   `json:"sessions"`
	Texts    int   `json:"texts"` // parts of messages, and summaries
	Bytes    int64 `json:"bytes"` // of the file
}

// Stats counts the content of the index.
func (x *Index) Stats(ctx context.Context) (s Stats, err error) {
	err = x.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM said)`).Scan(&s.Sessions, &s.Texts)
	info, serr := os.Stat(x.path)
	if serr == nil {
		s.Bytes = info.Size()
	}
	return s, errors.Join(err, serr)
}

// nameOf returns the name of a session for people: its id, or its folder if the id
// was too long for a folder name.
func nameOf(dir string) string {
	id, _ := record.UnescapeSession(dir)
	return cmp.Or(id, dir)
}
