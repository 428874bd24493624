package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock takes the lock on f and returns true, or false if another process or
// descriptor has it. The lock ends when f is closed or the process dies.
func TryLock(f *os.File) (bool, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	// The lock covers one byte far after the end of the file, because other
	// processes can't read a locked range.
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	var locked error
	err = raw.Control(func(fd uintptr) {
		const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
		locked = windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, at)
	})
	if err == nil && errors.Is(locked, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	if err == nil {
		err = os.NewSyscallError("LockFileEx", locked)
	}
	return err == nil, err
}
