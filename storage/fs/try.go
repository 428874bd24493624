package fs

import (
	"os"
	"path/filepath"
)

// Try finds out whether an archive could be opened and written to, as [Open]
// does, and leaves nothing behind: folders that it had to make for that are
// removed again.
func Try(root string) error {
	made := missing(filepath.Join(filepath.Clean(root), tempFolder))
	a, err := Open(root)
	if err == nil {
		err = a.Close()
	}
	for _, dir := range made {
		_ = os.Remove(dir) // what somebody else has put something into stays
	}
	return err
}

// missing returns a folder and those above it that are not there, the deepest
// first.
func missing(dir string) []string {
	var all []string
	for {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return all
		}
		all = append(all, dir)
		dir = filepath.Dir(dir)
	}
}
