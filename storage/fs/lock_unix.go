//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package fs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock on f, which ends when f is closed or its process
// dies. It is false when somebody else has it.
func tryLock(f *os.File) (bool, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var locked error
	err = raw.Control(func(fd uintptr) {
		for {
			locked = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB)
			if !errors.Is(locked, unix.EINTR) {
				return
			}
		}
	})
	if err == nil && errors.Is(locked, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err == nil {
		err = os.NewSyscallError("flock", locked)
	}
	return err == nil, err
}

// syncFolder makes the entries of a folder durable.
func (a *Archive) syncFolder(dir *os.File) error { return a.sys.sync(dir) }
