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

// formatVersion is that of the tables. An index of another one is made anew.
const formatVersion = 1

// fileName is what the database is called in its folder.
const fileName = "search.db"

// waits is how long another process may be at it, in milliseconds.
const waits = 30_000

// An Index is text of an archive in a form in which words are found at once. Make it
// with [Open]. It is safe for concurrent use, by several processes too.
type Index struct {
	a    storage.Archive
	path string
	db   *sql.DB
}

var _ record.TextIndex = (*Index)(nil)

// Folder returns where the index of an archive is kept: beside the sessions where the
// archive is a folder that can be written to, else in the user's cache folder, under
// a name that is made of the archive's.
func Folder(a storage.Archive) (string, error) {
	if dir, ok := beside(a); ok && writable(dir) {
		return dir, nil
	}
	return inCache(a)
}

// Existing returns the folders in which this user has an index of an archive here,
// also one that was made when the archive had another path, such as a symbolic link or
// another mount, if that path still leads to it.
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
		return folders // it is not on this disk
	}
	entries, _ := os.ReadDir(cache) // without it there is none
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
		return "", fmt.Errorf("search: there is no place for the index: %w", err)
	}
	return filepath.Join(cache, "compact", "index"), nil
}

func inCache(a storage.Archive) (string, error) {
	cache, err := indexes()
	return filepath.Join(cache, nameFor(whereIs(a))), err
}

// originName is the file beside an index in the cache that says where the archive is.
const originName = "archive"

func nameFor(location string) string {
	sum := sha256.Sum256([]byte(location))
	return hex.EncodeToString(sum[:12])
}

// asSpelled returns the location of an archive, which names its index in the cache if it
// is not on a disk. Version 0.1.0 named all by it.
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

// whereIs returns the full path of an archive on a disk, without symbolic links, and the
// location of another one.
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

// writable reports whether there is, or can be made, a folder to write to.
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

// Remove removes the index in a folder. None is no error.
func Remove(folder string) error {
	var errs []error
	for _, name := range []string{fileName, fileName + "-journal", fileName + "-wal", fileName + "-shm", originName} {
		if err := os.Remove(filepath.Join(folder, name)); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Open opens the index of an archive in a folder, and makes it where there is none
// that can be used. It is empty then, until the first search or [Index.Update].
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

// errUnusable: what is there is no index of this version.
var errUnusable = errors.New("it is damaged, or of another version")

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
		fmt.Sprintf("busy_timeout(%d)", waits), "journal_mode(DELETE)", "secure_delete(ON)", "temp_store(MEMORY)", "cache_size(-65536)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	x := &Index{a: a, path: path, db: db}
	err = x.prepare(ctx)
	if err == nil {
		err = x.clean(ctx) // what another process took out and had no time to
	}
	if err != nil {
		return nil, errors.Join(unusable(err), db.Close())
	}
	return x, nil
}

// private makes folder and file for nobody else to read.
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

// unusable tells a file that is none from one that can't be had just now.
func unusable(err error) error {
	const damaged, notDB, schema = 11, 26, 1 // SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		if code := e.Code() & 0xff; code == damaged || code == notDB || code == schema {
			return fmt.Errorf("%w (%w)", errUnusable, err)
		}
	}
	return err
}

// schema is the tables. The rows of a session in said have ids that follow each
// other, and grow with the time at which sessions were put in.
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

// prepare makes the tables where there are none.
func (x *Index) prepare(ctx context.Context) error {
	var version int
	if err := x.db.QueryRowContext(ctx, `SELECT value FROM fact WHERE name = 'version'`).Scan(&version); err == nil && version == formatVersion {
		return nil // without a lock
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
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

// Close ends the use of the index. What was taken out is gone from the file then.
func (x *Index) Close() error {
	return errors.Join(x.clean(context.Background()), x.db.Close())
}

// Path returns where the database is.
func (x *Index) Path() string { return x.path }

// Stats is what an index holds.
type Stats struct {
	Sessions int   `json:"sessions"`
	Texts    int   `json:"texts"` // parts of messages, and summaries
	Bytes    int64 `json:"bytes"` // of the file
}

// Stats counts what the index holds.
func (x *Index) Stats(ctx context.Context) (s Stats, err error) {
	err = x.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM said)`).Scan(&s.Sessions, &s.Texts)
	info, serr := os.Stat(x.path)
	if serr == nil {
		s.Bytes = info.Size()
	}
	return s, errors.Join(err, serr)
}

// nameOf is what people call a session: its id, or its folder where that is too long
// to be told from it.
func nameOf(dir string) string {
	id, _ := record.UnescapeSession(dir)
	return cmp.Or(id, dir)
}
