package fs

import (
	"os"

	"golang.org/x/sys/unix"
)

// birth returns what tells a folder from every other one that ever had its name, also
// from one that was made anew and got its number; false where the file system does not
// say when it was made.
func birth(dir *os.File) (b born, ok bool) {
	raw, err := dir.SyscallConn()
	if err != nil {
		return born{}, false
	}
	var s unix.Statx_t
	cerr := raw.Control(func(fd uintptr) {
		err = unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &s)
	})
	if cerr != nil || err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return born{}, false
	}
	return born{uint64(s.Dev_major)<<32 | uint64(s.Dev_minor), s.Ino, s.Btime.Sec, s.Btime.Nsec}, true
}
