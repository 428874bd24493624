package fs

import (
	"os"
	"path/filepath"

	"github.com/agentcompact/compact/storage"
)

// Try tests whether [Open] would succeed, and removes all folders that it
// creates.
func Try(root string) error {
	name, err := cleaned(root)
	if err != nil {
		return &storage.Error{Op: "open archive", Err: err}
	}
	made := missing(filepath.Join(name, tempFolder))
	a, err := Open(name)
	if err == nil {
		err = a.Close()
	}
	for _, dir := range made {
		_ = os.Remove(dir) // a folder with other content stays
	}
	return err
}

// missing returns the folders that do not exist: a folder and its parents, the deepest
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
