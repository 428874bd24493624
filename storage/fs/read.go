package fs

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"syscall"

	"github.com/agentcompact/compact/storage"
)

// Open implements [storage.Archive].
func (a *Archive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if err := storage.Begin(ctx, "open", k); err != nil {
		return nil, err
	}
	f, err := a.open(k.String(), off)
	if err != nil {
		return nil, storage.Wrap("open", k, err)
	}
	if n >= 0 {
		return limited{io.NewSectionReader(f, off, n), f}, nil
	}
	if _, err := f.Seek(off, io.SeekStart); err != nil {
		return nil, storage.Wrap("open", k, errors.Join(err, f.Close()))
	}
	return f, nil
}

type limited struct {
	io.Reader
	io.Closer
}

// open opens a plain file. A negative off is an error.
func (a *Archive) open(name string, off int64) (*os.File, error) {
	if off < 0 {
		return nil, &iofs.PathError{Op: "seek", Path: name, Err: errNegative}
	}
	if f, ok := a.openPlain(name); ok {
		return f, nil
	}
	return a.openSlow(name)
}

// openSlow opens a file folder by folder, and returns a precise error.
func (a *Archive) openSlow(name string) (*os.File, error) {
	if err := a.plainFolders(name); err != nil {
		return nil, err
	}
	info, err := a.root.Lstat(name)
	if isAbsent(err) || err == nil && info.IsDir() {
		return nil, storage.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: errNotPlain}
	}
	f, err := a.root.Open(name)
	if isAbsent(err) {
		return nil, storage.ErrNotExist
	}
	return f, err
}

// isAbsent reports whether err means that the file does not exist. A plain file in
// place of a folder counts, because no key can be below it.
func isAbsent(err error) bool {
	return errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Remove implements [storage.Remover].
func (a *Archive) Remove(ctx context.Context, k storage.Key) error {
	if err := storage.Begin(ctx, "remove", k); err != nil {
		return err
	}
	return storage.Wrap("remove", k, a.remove(k.String()))
}

func (a *Archive) remove(name string) error {
	if err := a.plainFolders(name); err != nil {
		return err
	}
	info, err := a.root.Lstat(name)
	switch {
	case errors.Is(err, iofs.ErrNotExist): // a crash may have left the folder of the file
	case isAbsent(err):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return &iofs.PathError{Op: "remove", Path: name, Err: errNotPlain}
	default:
		if err := a.root.Remove(name); err != nil && !isAbsent(err) {
			return err
		}
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if err := a.root.Remove(dir); err != nil && !isAbsent(err) {
			return a.syncFolders(dir + "/-") // exists: the folder is not empty
		}
	}
	return a.syncFolders("-")
}
