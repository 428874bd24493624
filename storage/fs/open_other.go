//go:build !linux

package fs

import "os"

// openPlain is for systems that can open below a folder with one call.
func (a *Archive) openPlain(string) (*os.File, bool) { return nil, false }
