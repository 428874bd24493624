package spool

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agentcompact/compact/storage/internal/filelock"
)

// syncFile is the sync call on which durability depends. Tests replace it.
var syncFile = (*os.File).Sync

// syncFolder makes the entries of a folder durable.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // the file system itself keeps the order of writes
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncFile(f), f.Close())
}

// replace durably writes a file, atomically.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = syncFile(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// appendLine durably appends a line to a file. An incomplete line that a crash
// left becomes a separate line.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the data was synced
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	line += "\n"
	if end > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], end-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = "\n" + line
		}
	}
	if _, err := f.WriteAt([]byte(line), end); err != nil {
		return err
	}
	if err := syncFile(f); err != nil {
		return err
	}
	if end == 0 {
		return syncFolder(filepath.Dir(path))
	}
	return nil
}

// stripes is the number of lock files of each kind. Sessions share them, so that
// their number does not grow.
const stripes = 256

// A lockKind is one of the two locks of a session. To take both, take sending
// first.
type lockKind string

const (
	sending lockKind = "send"  // held while operations are sent to the remote archive
	writing lockKind = "write" // held while an operation is written to the disk
)

func (s *Spool) lockFile(kind lockKind, session string) (*os.File, error) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(session)) // a hash never fails
	name := fmt.Sprintf("%s-%02x", kind, h.Sum32()%stripes)
	return os.OpenFile(filepath.Join(s.dir, "locks", name), os.O_RDWR|os.O_CREATE, 0o600)
}

// lock waits for a lock of a session, and returns the function that releases
// it.
func (s *Spool) lock(ctx context.Context, kind lockKind, session string) (unlock func(), err error) {
	f, err := s.lockFile(kind, session)
	if err != nil {
		return nil, err
	}
	if err := filelock.Lock(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// tryLock is lock without waiting; unlock is nil if the lock is taken.
func (s *Spool) tryLock(kind lockKind, session string) (unlock func(), err error) {
	f, err := s.lockFile(kind, session)
	if err != nil {
		return nil, err
	}
	ok, err := filelock.TryLock(f)
	if err != nil || !ok {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
