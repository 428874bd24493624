// Package fs is an archive in a folder.
//
// Each file is written to a temporary name, synced, linked to its own name
// (which fails when the name is taken, so nothing is ever overwritten), and
// the folder is synced; logs are appended to under a lock on the file. Folders
// are made 0700 and files 0600. Nothing outside of the root is ever touched,
// whatever symbolic links say.
//
// The file system must have hard links and locks, as all usual ones do; [Open]
// tries. Several processes, and several Archives in one, may share a root.
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
	// tempFolder is in the root, so that a link from it is within one file
	// system. It is no key.
	tempFolder = ".tmp"
	// tempAge is how old a temporary file must be before it is taken for
	// one that a crash left.
	tempAge = time.Minute
)

// Archive keeps files below one folder. Make it with [Open].
type Archive struct {
	name string // as given, for Location
	root *os.Root
	dir  *os.File // the same folder
	sys  system

	mu      sync.Mutex
	swept   time.Time
	settled map[string]os.FileInfo // logs whose folder entry is durable
	rooted  map[string]born        // folders whose entry in the one above is durable
}

var (
	_ storage.Archive = (*Archive)(nil)
	_ storage.Remover = (*Archive)(nil)
	_ storage.Locator = (*Archive)(nil)

	_ storage.BulkCreator = (*Archive)(nil)
)

// system is what durability hangs on. Tests watch it, and break it.
type system struct {
	sync func(f *os.File) error
	link func(r *os.Root, from, to string) error
}

var realSystem = system{
	sync: (*os.File).Sync,
	link: (*os.Root).Link,
}

// Open returns the archive below root, and makes the folder where there is
// none. A folder that cannot be written to, or a file system on which the
// promises of an archive cannot be kept, is an error now and not later.
func Open(root string) (*Archive, error) { return open(root, realSystem) }

func open(root string, sys system) (*Archive, error) {
	if root == "" {
		return nil, &storage.Error{Op: "open archive", Err: errors.New("no folder is named")}
	}
	a := &Archive{name: filepath.Clean(root), sys: sys, settled: map[string]os.FileInfo{}, rooted: map[string]born{}}
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

// Close gives the folder back to the system. Nothing can be done with the
// Archive afterwards.
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

// Location returns the path of a key, below the root as it was given to Open.
func (a *Archive) Location(k storage.Key) string {
	return filepath.Join(a.name, filepath.FromSlash(k.String()))
}

// makeRoot makes the folder and those above it, each durable in the one
// above.
func (a *Archive) makeRoot(dir string) error {
	err := os.Mkdir(dir, folderMode)
	if errors.Is(err, iofs.ErrNotExist) {
		if err := a.makeRoot(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, folderMode)
	}
	if errors.Is(err, iofs.ErrExist) {
		return nil // perhaps no folder; OpenRoot tells
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

// try does once what every Create and Append does, in the folder for
// temporary files.
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
	second := tempName()
	if err := a.sys.link(a.root, t.name, second); err != nil {
		return fmt.Errorf("the file system has no hard links: %w", err)
	}
	if err := a.sys.link(a.root, t.name, second); !errors.Is(err, iofs.ErrExist) {
		return fmt.Errorf("the file system overwrites what exists: %w", storage.ErrUnsupported)
	}
	return a.root.Remove(second)
}

// ensureFolder makes the folders above name.
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

// plainFolders refuses a name that goes through a link: what a link leads to is
// another session's. A folder that is not there is no error.
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
	return nil // whatever else is wrong is told by what follows
}

// syncFolders makes durable that name is in its folder, and that its folder is
// in the one above, unless this Archive has done that for this very folder.
func (a *Archive) syncFolders(name string) error {
	made := map[string]born{}
	for name != "." {
		name = path.Dir(name)
		b, known, err := a.syncFolderOf(name)
		if err != nil {
			return err
		}
		if known {
			break
		}
		if b != (born{}) {
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

// syncFolderOf syncs a folder. It reports when it was made, where that can be told, and
// whether its entry is known to be durable.
func (a *Archive) syncFolderOf(name string) (b born, known bool, err error) {
	dir, err := a.root.Open(name)
	if err != nil {
		return born{}, false, err
	}
	b, ok := birth(dir)
	a.mu.Lock()
	before, have := a.rooted[name]
	a.mu.Unlock()
	return b, ok && have && before == b, errors.Join(a.syncFolder(dir), dir.Close())
}

// born tells a folder from every other: device, number, and when it was made.
type born struct {
	device, number uint64
	sec            int64
	nsec           uint32
}

var (
	errNotFolder = errors.New("is not a folder")
	errNotPlain  = errors.New("is not a plain file")
	errNegative  = errors.New("the offset is negative")
)
