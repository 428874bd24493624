//go:build !linux

package fs

import "os"

// birth is false: it is not known here when a folder was made.
func birth(*os.File) (born, bool) { return born{}, false }
