package storage

import (
	"context"
	"io"
)

// A KindOpener is an Archive that needs fewer requests if it knows whether a
// key was created (a file) or appended to (a log).
type KindOpener interface {
	// OpenFile is Open of a file. A log may be ErrNotExist.
	OpenFile(ctx context.Context, k Key, off, n int64) (io.ReadCloser, error)
	// OpenLog is Open of a log. size is its length at that moment. A file may be
	// ErrNotExist.
	OpenLog(ctx context.Context, k Key, off, n int64) (r io.ReadCloser, size int64, err error)
}

// An EndOpener is an Archive that opens the end of a log of unknown length with fewer
// requests.
type EndOpener interface {
	// OpenEnd is OpenLog of the last n bytes of a log. off is the offset of the first one of
	// them, 0 if the log is not longer.
	OpenEnd(ctx context.Context, k Key, n int64) (r io.ReadCloser, off int64, err error)
}

// OpenFile opens a key that is known to be a file, with as few requests as
// possible.
func OpenFile(ctx context.Context, a Archive, k Key, off, n int64) (io.ReadCloser, error) {
	if o, ok := a.(KindOpener); ok {
		return o.OpenFile(ctx, k, off, n)
	}
	return a.Open(ctx, k, off, n)
}
