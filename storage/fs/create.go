package fs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/filelock"
)

// Create implements [storage.Archive].
func (a *Archive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return a.CreateAll(ctx, []storage.Key{k}, []storage.Blob{b})[0]
}

// CreateAll implements [storage.BulkCreator]: it syncs each folder once.
func (a *Archive) CreateAll(ctx context.Context, keys []storage.Key, blobs []storage.Blob) []error {
	a.sweep()
	errs := make([]error, len(keys))
	var all sync.WaitGroup
	for i, k := range keys {
		if errs[i] = storage.Begin(ctx, "create", k); errs[i] == nil {
			all.Go(func() { errs[i] = created(k, a.create(ctx, k.String(), blobs[i])) })
		}
	}
	all.Wait()
	synced := map[string]error{}
	for i, k := range keys {
		if errs[i] != nil {
			continue
		}
		dir := path.Dir(k.String())
		err, done := synced[dir]
		if !done {
			err = a.syncFolders(k.String())
			synced[dir] = err
		}
		errs[i] = created(k, err)
	}
	return errs
}

func created(k storage.Key, err error) error {
	switch {
	case errors.Is(err, iofs.ErrExist):
		err = storage.ErrExists
	case errors.Is(err, iofs.ErrNotExist): // an erase has removed the file and its folder in the meantime
		err = fmt.Errorf("%w any more: %w", storage.ErrNotExist, err)
	}
	return storage.Wrap("create", k, err)
}

// create creates a file. Its entry in the folder is not durable yet.
func (a *Archive) create(ctx context.Context, name string, b storage.Blob) error {
	if _, err := a.root.Lstat(name); err == nil {
		return iofs.ErrExist // avoids writing the bytes for nothing
	}
	t, err := a.newTemp()
	if err != nil {
		return err
	}
	defer t.discard()
	if _, err := b.WriteTo(&ctxWriter{ctx, t.f}); err != nil {
		return err
	}
	if err := a.sys.sync(t.f); err != nil {
		return err
	}
	return a.place(ctx, t.name, name)
}

// place links a temporary file to its name. If an erase has removed the folder in
// the meantime, it is created again.
func (a *Archive) place(ctx context.Context, temp, name string) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.ensureFolder(name); err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return err
		}
		err := a.sys.link(a.root, temp, name)
		if !errors.Is(err, iofs.ErrNotExist) {
			return err
		}
		if _, lost := a.root.Lstat(temp); lost != nil {
			return err // the temporary file was removed
		}
	}
}

// temp is a file without a key. It is locked while its writer lives, so that sweep
// can distinguish it from a file that a crash left.
type temp struct {
	a    *Archive
	f    *os.File
	name string
}

func tempName() string { return tempFolder + "/" + rand.Text() }

// isTemp reports whether a file in tempFolder has a name as tempName makes them. Other
// files may belong to other programs, because the root can be a folder with other
// content.
func isTemp(file string) bool {
	return len(file) >= 26 && strings.Trim(file, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func (a *Archive) newTemp() (*temp, error) {
	name := tempName()
	f, err := a.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, iofs.ErrNotExist) { // the folder was removed
		if err := a.root.Mkdir(tempFolder, folderMode); err != nil && !errors.Is(err, iofs.ErrExist) {
			return nil, err
		}
		f, err = a.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	}
	if err != nil {
		return nil, err
	}
	t := &temp{a, f, name}
	mine, err := filelock.TryLock(f)
	if err != nil {
		t.discard()
		return nil, err
	}
	if _, gone := a.root.Lstat(name); !mine || errors.Is(gone, iofs.ErrNotExist) {
		_ = f.Close() // the file was swept before this process locked it
		return a.newTemp()
	}
	return t, nil
}

// discard removes the temporary name. If the file already has its final name, it keeps
// that name.
func (t *temp) discard() {
	_ = t.f.Close()             // synced before, or not needed
	_ = t.a.root.Remove(t.name) // swept later if it can't be removed
}

// sweep removes temporary files that a crash left, at most once in tempAge. It
// ignores errors.
func (a *Archive) sweep() {
	a.mu.Lock()
	due := time.Since(a.swept) >= tempAge
	if due {
		a.swept = time.Now()
	}
	a.mu.Unlock()
	if !due {
		return
	}
	dir, err := a.root.Open(tempFolder)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	for _, name := range slices.DeleteFunc(names, func(n string) bool { return !isTemp(n) }) {
		a.sweepOne(tempFolder + "/" + name)
	}
}

func (a *Archive) sweepOne(name string) {
	info, err := a.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < tempAge {
		return
	}
	_, _ = a.sweepFree(name)
}

// sweepFree removes a temporary file whose writer is dead, and reports whether the
// file is gone.
func (a *Archive) sweepFree(name string) (bool, error) {
	f, err := a.root.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, iofs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	free, err := filelock.TryLock(f)
	if err != nil || !free {
		return false, err
	}
	err = a.root.Remove(name)
	if errors.Is(err, iofs.ErrNotExist) {
		err = nil
	}
	return err == nil, err
}

// Sweep implements [storage.Sweeper]. A temporary file does not name its session, so
// all files of dead writers are removed.
func (a *Archive) Sweep(ctx context.Context, session storage.Key) (left []string, err error) {
	if err := storage.Begin(ctx, "sweep", session); err != nil {
		return nil, err
	}
	left, err = a.Tidy(ctx)
	return left, storage.Wrap("sweep", session, err)
}

// Tidy implements [storage.Tidier].
func (a *Archive) Tidy(ctx context.Context) (left []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, storage.Wrap("tidy", storage.Key{}, err)
	}
	dir, err := a.root.Open(tempFolder)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storage.Wrap("tidy", storage.Key{}, err)
	}
	names, err := dir.Readdirnames(-1)
	err = errors.Join(err, dir.Close())
	for _, name := range slices.DeleteFunc(names, func(n string) bool { return !isTemp(n) }) {
		gone, oneErr := a.sweepFree(tempFolder + "/" + name)
		err = errors.Join(err, oneErr)
		if !gone {
			left = append(left, "the temporary file "+name+", which a process writes to")
		}
	}
	return left, storage.Wrap("tidy", storage.Key{}, err)
}

// ctxWriter fails after its context is done.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w *ctxWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}
