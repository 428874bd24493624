//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"os"
)

// TryLock is not possible here, and so no archive on a disk is.
func TryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
