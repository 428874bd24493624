//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock takes the lock on f and returns true; it returns false when another process,
// or another open of the file, has the lock. The lock ends when f is closed or the
// process dies.
func TryLock(f *os.File) (bool, error) {
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
