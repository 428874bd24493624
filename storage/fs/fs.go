// Package fs is an archive in a folder.
//
// Each file is written under a temporary name, synced, and linked to its own
// name; then the folder is synced. The link fails if the name is taken, so
// nothing is overwritten. Appends to logs lock the file. Folders have mode 0700
// and files 0600. Symbolic links never lead outside of the root.
//
// The file system must support hard links and locks; [Open] tests both. Several
// processes, and several Archives in one process, can share a root.
package fs

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/agentcompact/compact/storage"
)

const (
	folderMode = 0o700
	fileMode   = 0o600
	// tempFolder is in the root, so that links from it stay in one file system.
	// It is not a key.
	tempFolder = ".tmp"
	// tempAge is the minimum age of a temporary file that counts as left by a
	// crash.
	tempAge = time.Minute
)

// Archive stores files below one folder. Create it with [Open].
type Archive struct {
	name string // as given, for Location
	root *os.Root
	dir  *os.File // the root folder
	sys  system

	mu      sync.Mutex
	swept   time.Time
	settled map[string]os.FileInfo    // logs whose entry in their folder is durable
	rooted  map[string]folderIdentity // folders whose entry in the parent folder is durable
}

var (
	_ storage.Archive = (*Archive)(nil)
	_ storage.Remover = (*Archive)(nil)
	_ storage.Locator = (*Archive)(nil)

	_ storage.BulkCreator = (*Archive)(nil)
)

// system holds the calls on which durability depends. Tests replace them.
type system struct {
	sync func(f *os.File) error
	link func(r *os.Root, from, to string) error
}

var realSystem = system{
	sync: (*os.File).Sync,
	link: (*os.Root).Link,
}

// Open returns the archive below root, and creates the folder if it is missing.
// It returns an error for a folder that can't be written, and for a file system
// without the required features. root is a path or a file URL; see [Folder].
func Open(root string) (*Archive, error) { return open(root, realSystem) }

func open(root string, sys system) (*Archive, error) {
	name, err := cleaned(root)
	if err != nil {
		return nil, &storage.Error{Op: "open archive", Err: err}
	}
	a := &Archive{name: name, sys: sys, settled: map[string]os.FileInfo{}, rooted: map[string]folderIdentity{}}
	if err := a.makeRoot(a.name); err != nil {
		return nil, &storage.Error{Op: "open archive", Err: err}
	}
	if err := a.openRoot(); err != nil {
		return nil, &storage.Error{Op: "open archive", Err: err}
	}
	if err := a.try(); err != nil {
		err = fmt.Errorf("%s: %w", a.name, err)
		return nil, &storage.Error{Op: "open archive", Err: errors.Join(err, a.Close())}
	}
	a.sweep()
	return a, nil
}

// cleaned returns the shortest path of the folder.
func cleaned(root string) (string, error) {
	if root == "" {
		return "", errors.New("no folder is named")
	}
	name, err := Folder(root)
	if err != nil {
		return "", fmt.Errorf("%q %w", root, err)
	}
	return filepath.Clean(name), nil
}

// Close closes the folder. The Archive can't be used afterwards.
func (a *Archive) Close() error { return errors.Join(a.root.Close(), a.dir.Close()) }

func (a *Archive) openRoot() (err error) {
	if a.root, err = os.OpenRoot(a.name); err != nil {
		return err
	}
	if a.dir, err = a.root.Open("."); err != nil {
		return errors.Join(err, a.root.Close())
	}
	return nil
}

// Location returns the path of a key, below the root that was passed to Open.
func (a *Archive) Location(k storage.Key) string {
	return filepath.Join(a.name, filepath.FromSlash(k.String()))
}

// makeRoot creates the folder and its parents, and makes each durable in its
// parent.
func (a *Archive) makeRoot(dir string) error {
	err := os.Mkdir(dir, folderMode)
	if errors.Is(err, iofs.ErrNotExist) {
		if err := a.makeRoot(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, folderMode)
	}
	if errors.Is(err, iofs.ErrExist) {
		return nil // may be something other than a folder; OpenRoot checks that
	}
	if err != nil {
		return err
	}
	above, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(a.syncFolder(above), above.Close())
}

// try tests the operations of Create and Append, in the folder for temporary
// files.
func (a *Archive) try() error {
	if err := a.root.Mkdir(tempFolder, folderMode); err != nil && !errors.Is(err, iofs.ErrExist) {
		return err
	}
	t, err := a.newTemp()
	if err != nil {
		return err
	}
	defer t.discard()
	if _, err := io.WriteString(t.f, "try"); err != nil {
		return err
	}
	if err := a.sys.sync(t.f); err != nil {
		return err
	}
	return a.tryLinks(t.name)
}

// tryLinks checks that a file can get a second name, and that a taken name is refused.
func (a *Archive) tryLinks(name string) error {
	second := tempName()
	if err := a.sys.link(a.root, name, second); err != nil {
		return fmt.Errorf("the file system has no hard links: %w", err)
	}
	if err := a.sys.link(a.root, name, second); !errors.Is(err, iofs.ErrExist) {
		return fmt.Errorf("the file system overwrites existing files: %w", storage.ErrUnsupported)
	}
	return a.root.Remove(second)
}

// ensureFolder creates the folders above name.
func (a *Archive) ensureFolder(name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	if err := a.ensureFolder(dir); err != nil {
		return err
	}
	if err := a.root.Mkdir(dir, folderMode); err != nil && !errors.Is(err, iofs.ErrExist) {
		return err
	}
	info, err := a.root.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = &iofs.PathError{Op: "mkdir", Path: dir, Err: errNotFolder}
	}
	return err
}

// plainFolders returns an error for a name below a symbolic link, which could lead to
// another session. A missing folder is not an error.
func (a *Archive) plainFolders(name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	if err := a.plainFolders(dir); err != nil {
		return err
	}
	info, err := a.root.Lstat(dir)
	if err == nil && info.Mode()&iofs.ModeSymlink != 0 {
		return &iofs.PathError{Op: "open", Path: dir, Err: errNotFolder}
	}
	return nil // other errors are reported by the operation that follows
}

// syncFolders makes the entries of name and of the folders above it durable. It
// stops at a folder whose own entry this Archive has made durable before.
func (a *Archive) syncFolders(name string) error {
	made := map[string]folderIdentity{}
	for name != "." {
		name = path.Dir(name)
		b, known, err := a.syncFolderOf(name)
		if err != nil {
			return err
		}
		if known {
			break
		}
		if b != (folderIdentity{}) {
			made[name] = b
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.rooted) >= maxSettled {
		clear(a.rooted)
	}
	maps.Copy(a.rooted, made)
	return nil
}

// syncFolderOf syncs a folder. It returns the folder's birth, if known, and whether the
// folder's own entry is known to be durable.
func (a *Archive) syncFolderOf(name string) (b folderIdentity, known bool, err error) {
	dir, err := a.root.Open(name)
	if err != nil {
		return folderIdentity{}, false, err
	}
	b, ok := birth(dir)
	a.mu.Lock()
	before, have := a.rooted[name]
	a.mu.Unlock()
	return b, ok && have && before == b, errors.Join(a.syncFolder(dir), dir.Close())
}

// folderIdentity identifies a folder: device, inode number and creation time.
type folderIdentity struct {
	device, number uint64
	sec            int64
	nsec           uint32
}

var (
	errNotFolder = errors.New("is not a folder")
	errNotPlain  = errors.New("is not a plain file")
	errNegative  = errors.New("the offset is negative")
)
