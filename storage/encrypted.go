package storage

import (
	"context"
	"path"
)

// Encrypted reports whether package storage/crypt wrote an archive. The first file
// outside of a search index decides, because plain and encrypted files must not be mixed.
// Encrypted lists the first page of the archive.
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
