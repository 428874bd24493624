//go:build unix

package fs

import (
	iofs "io/fs"
	"syscall"
)

func sysID(info iofs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
