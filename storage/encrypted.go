package storage

import (
	"context"
	"path"
)

// Encrypted reports whether package storage/crypt wrote an archive, by its first file
// outside of a search index. Plain and encrypted files must not be mixed. It lists the first
// page of the archive.
func Encrypted(ctx context.Context, a Archive) (bool, error) {
	for info, err := range a.List(ctx, Key{}) {
		switch {
		case err != nil:
			return false, err
		case info.Foreign == "" && info.Key.Dir() != "_index": // package search writes a plain index
			return path.Ext(info.Key.String()) == ".age", nil
		}
	}
	return false, nil
}
