package fs

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"os"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/filelock"
)

// Append implements [storage.Archive].
func (a *Archive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := storage.Begin(ctx, "append", k); err != nil {
		return err
	}
	return storage.Wrap("append", k, a.append(ctx, k.String(), seq, b, a.sys.sync))
}

// AppendLazily implements [storage.LazyAppender]. A new log is synced.
func (a *Archive) AppendLazily(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := storage.Begin(ctx, "append", k); err != nil {
		return err
	}
	sync := a.sys.sync
	if seq > 0 {
		sync = func(*os.File) error { return nil }
	}
	return storage.Wrap("append", k, a.append(ctx, k.String(), seq, b, sync))
}

func (a *Archive) append(ctx context.Context, name string, seq int64, b storage.Blob, sync func(*os.File) error) error {
	f, err := a.lockLog(ctx, name, seq)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // releases the lock; the data was synced
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != seq {
		return storage.ErrSeq
	}
	if _, err := b.WriteTo(&ctxWriter{ctx, io.NewOffsetWriter(f, seq)}); err != nil {
		return errors.Join(err, f.Truncate(seq))
	}
	if err := sync(f); err != nil {
		return errors.Join(err, f.Truncate(seq))
	}
	err = a.settle(name, info, seq == 0)
	if errors.Is(err, iofs.ErrNotExist) { // an erase has removed the log and its folder in the meantime
		return storage.ErrSeq
	}
	return err
}

// maxRemovals limits how often the folder of a new log is created again because an
// erase has removed it in the meantime.
const maxRemovals = 100

// lockLog opens and locks a log. The log is created only if seq is 0.
func (a *Archive) lockLog(ctx context.Context, name string, seq int64) (*os.File, error) {
	for attempt := 1; ; attempt++ {
		f, err := a.openLog(name, seq)
		if seq == 0 && errors.Is(err, iofs.ErrNotExist) && attempt < maxRemovals && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := filelock.Lock(ctx, f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		same, err := a.isNamed(f, name)
		if same && err == nil {
			return f, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

func (a *Archive) openLog(name string, seq int64) (*os.File, error) {
	if info, err := a.root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &iofs.PathError{Op: "append", Path: name, Err: errNotPlain}
	}
	if seq != 0 {
		if err := a.plainFolders(name); err != nil {
			return nil, err
		}
		f, err := a.root.OpenFile(name, os.O_RDWR, 0)
		if errors.Is(err, iofs.ErrNotExist) {
			return nil, storage.ErrSeq
		}
		return f, err
	}
	if err := a.ensureFolder(name); err != nil {
		return nil, err
	}
	return a.root.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
}

// isNamed reports whether f is still the file called name, which may have been
// erased while the caller waited for the lock.
func (a *Archive) isNamed(f *os.File, name string) (bool, error) {
	have, err := f.Stat()
	if err != nil {
		return false, err
	}
	want, err := a.root.Lstat(name)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	if err == nil && !want.Mode().IsRegular() {
		err = &iofs.PathError{Op: "append", Path: name, Err: errNotPlain}
	}
	return err == nil && os.SameFile(have, want), err
}

// maxSettled limits the number of files that settle remembers. Other files are synced
// again.
const maxSettled = 4096

// settle syncs the folder entry of a log, unless this Archive has already done so for
// this file: the process that created the file may have died before it synced the
// entry. A fresh file is always synced, because it may have the inode number of an
// erased one.
func (a *Archive) settle(name string, info os.FileInfo, fresh bool) error {
	a.mu.Lock()
	before, ok := a.settled[name]
	a.mu.Unlock()
	if ok && !fresh && os.SameFile(before, info) {
		return nil
	}
	if err := a.syncFolders(name); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.settled) >= maxSettled {
		clear(a.settled)
	}
	a.settled[name] = info
	return nil
}
