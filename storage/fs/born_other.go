//go:build !linux

package fs

import "os"

// birth returns false, because the creation time is not available.
func birth(*os.File) (folderIdentity, bool) { return folderIdentity{}, false }
