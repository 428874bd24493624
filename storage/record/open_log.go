package record

import (
	"context"
	"io"

	"github.com/agentcompact/compact/storage"
)

// openEnd opens a log at an offset, and returns its size. For offset 0 it
// may return 0, which means that the size is unknown.
func openEnd(ctx context.Context, a storage.Archive, k storage.Key, off int64) (io.ReadCloser, int64, error) {
	if _, ok := a.(storage.KindOpener); !ok && off == 0 {
		r, err := a.Open(ctx, k, 0, -1)
		return r, 0, err
	}
	return openLog(ctx, a, k, off, -1)
}

// openLog opens a key that is known to be a log, and returns its size.
func openLog(ctx context.Context, a storage.Archive, k storage.Key, off, n int64) (io.ReadCloser, int64, error) {
	if o, ok := a.(storage.KindOpener); ok {
		return o.OpenLog(ctx, k, off, n)
	}
	info, err := stat(ctx, a, k)
	if err != nil {
		return nil, 0, err
	}
	r, err := a.Open(ctx, k, off, n)
	return r, info.Size, err
}

// openOneLog opens a key that is known to be a log, without its size.
func openOneLog(ctx context.Context, a storage.Archive, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if o, ok := a.(storage.KindOpener); ok {
		r, _, err := o.OpenLog(ctx, k, off, n)
		return r, err
	}
	return a.Open(ctx, k, off, n)
}

// openLast opens the last n bytes of a log, and returns the offset of the first one.
func openLast(ctx context.Context, a storage.Archive, k storage.Key, n int64) (io.ReadCloser, int64, error) {
	if o, ok := a.(storage.EndOpener); ok {
		return o.OpenEnd(ctx, k, n)
	}
	none, size, err := openLog(ctx, a, k, 0, 0)
	if err == nil {
		err = none.Close()
	}
	if err != nil {
		return nil, 0, err
	}
	off := max(0, size-n)
	r, _, err := openLog(ctx, a, k, off, -1)
	return r, off, err
}
