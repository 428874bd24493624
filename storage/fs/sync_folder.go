//go:build !windows

package fs

import "os"

// syncFolder makes the entries of a folder durable.
func (a *Archive) syncFolder(dir *os.File) error { return a.sys.sync(dir) }
