//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"os"
)

// TryLock returns an error: this system has no locks, and so no archive on
// disk.
func TryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
