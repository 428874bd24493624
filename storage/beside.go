package storage

import (
	"context"
	"iter"
)

// A Folder is the state of a folder in the root of an archive, from a
// [Glancer].
type Folder struct {
	Name string
	// Stamp changes when a key is created in the folder or removed from it, or
	// one of the requested logs grows. "" means no stamp: the last change is too
	// recent to be distinguished from the next one.
	Stamp string
}

// A Glancer is an Archive that reports cheaply which folders have changed. For any other
// archive, a caller such as the search index lists every key.
type Glancer interface {
	// Glance yields the folders in the root, in no order. logs returns the names of logs
	// in a folder: if one of them grows, the folder's stamp must change. Several
	// goroutines call logs at once. An error is yielded last.
	Glance(ctx context.Context, logs func(folder string) []string) iter.Seq2[Folder, error]
}

// IndexHolder is an Archive that keeps an index of its text beside the sessions.
type IndexHolder interface {
	// DropIndex removes the index, which can be rebuilt from the sessions. A missing index
	// is not an error.
	DropIndex(ctx context.Context) error
}
