//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package fs

import (
	"os"

	"github.com/agentcompact/compact/storage"
)

// tryLock is not possible here, and so no archive is.
func tryLock(*os.File) (bool, error) { return false, storage.ErrUnsupported }

func (a *Archive) syncFolder(dir *os.File) error { return a.sys.sync(dir) }
