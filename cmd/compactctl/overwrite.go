package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// reads records the inputs, so that no output replaces them. "-" is standard
// input.
func (a *app) reads(files ...string) { a.inputs = append(a.inputs, files...) }

// spares returns an error if an output is also an input, under any name, because
// the input would be lost.
func (a *app) spares(out string) error {
	info, err := os.Stat(out)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // a new file, or a device, which holds nothing
	}
	for _, name := range a.inputs {
		in, err := a.stat(name)
		if err == nil && os.SameFile(in, info) {
			return &usageError{fmt.Errorf("%s is the same file as the input, %s, and would replace it: write to another file", out, inputName(name))}
		}
	}
	return nil
}

// stat describes an input.
func (a *app) stat(name string) (fs.FileInfo, error) {
	if name != "-" {
		return os.Stat(name)
	}
	if f, ok := a.in.(*os.File); ok {
		return f.Stat()
	}
	return nil, fs.ErrNotExist
}

// sameFile reports whether two names belong to one file. The file need not exist yet.
func sameFile(p, q string) bool {
	if filepath.Clean(p) == filepath.Clean(q) {
		return true
	}
	a, errA := os.Stat(p)
	b, errB := os.Stat(q)
	return errA == nil && errB == nil && a.Mode().IsRegular() && os.SameFile(a, b)
}

// maxLinks is the maximum number of links that destination follows, as on Linux.
const maxLinks = 40

// destination returns a path with symbolic links resolved. The file at the end of the
// links need not exist yet.
func destination(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, nil // for example /dev/stdout as a pipe; the caller gets an error itself
	}
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // no link, or nothing is there
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(path) + string(filepath.Separator) + to // not cleaned: a folder before .. may be a link
		}
		path = to
	}
	return "", fmt.Errorf("more than %d symbolic links", maxLinks)
}

// writable returns the reason why an existing file can't be written. The mode of
// its folder decides whether the file can be replaced. A read-only mode of the file
// itself says that nobody should replace it.
func writable(path string, mode fs.FileMode) error {
	if mode&0o222 == 0 { // root could open it nevertheless
		return errors.New("it is read-only: change its mode, or write to another file")
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
