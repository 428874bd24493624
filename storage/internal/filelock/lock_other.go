//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"os"
)

// TryLock returns an error: this system has no file locks, so it cannot have
// an archive on disk.
func TryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
