//go:build !linux

package fs

import "os"

// openPlain returns false: this system has no such call.
func (a *Archive) openPlain(string) (*os.File, bool) { return nil, false }
