package fs

import (
	"os"

	"golang.org/x/sys/unix"
)

// birth returns the identity of a folder, which includes the time of its creation. So it
// differs from the identity of an earlier folder with the same name or inode number.
// birth returns false if the file system does not store that time.
func birth(dir *os.File) (b folderIdentity, ok bool) {
	raw, err := dir.SyscallConn()
	if err != nil {
		return folderIdentity{}, false
	}
	var s unix.Statx_t
	cerr := raw.Control(func(fd uintptr) {
		err = unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &s)
	})
	if cerr != nil || err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return folderIdentity{}, false
	}
	return folderIdentity{uint64(s.Dev_major)<<32 | uint64(s.Dev_minor), s.Ino, s.Btime.Sec, s.Btime.Nsec}, true
}
