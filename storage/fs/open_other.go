//go:build !linux

package fs

import "os"

// openPlain returns false: only Linux can open a file below a folder with one call.
func (a *Archive) openPlain(string) (*os.File, bool) { return nil, false }
