package storage

import (
	"context"
	"io"
)

// A KindOpener is an Archive that needs fewer requests if it knows whether a
// key was created (a file) or appended to (a log).
type KindOpener interface {
	// OpenFile is Open for a file. For a log it may return ErrNotExist.
	OpenFile(ctx context.Context, k Key, off, n int64) (io.ReadCloser, error)
	// OpenLog is Open for a log. size is the present length of the log. For a file it may
	// return ErrNotExist.
	OpenLog(ctx context.Context, k Key, off, n int64) (r io.ReadCloser, size int64, err error)
}

// An EndOpener is an Archive that opens the end of a log of unknown length with fewer
// requests.
type EndOpener interface {
	// OpenEnd opens the last n bytes of a log, like OpenLog. off is the offset of the first
	// of these bytes; it is 0 if the log has at most n bytes.
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
