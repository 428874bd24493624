package fs

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/agentcompact/compact/storage"
)

// ErrReadOnly means that the archive was opened for reading only.
var ErrReadOnly = errors.New("the archive was opened for reading only")

// ReadOnly reads an archive without writing anything to its folder, which can
// be on a read-only medium. Create it with [OpenReadOnly].
type ReadOnly struct{ a *Archive }

var (
	_ storage.Archive = (*ReadOnly)(nil)
	_ storage.Locator = (*ReadOnly)(nil)
)

// OpenReadOnly returns the archive below root for reading. A missing folder is
// an error.
func OpenReadOnly(root string) (*ReadOnly, error) {
	name, err := cleaned(root)
	a := &Archive{name: name}
	if err == nil {
		err = a.openRoot()
	}
	if err != nil {
		return nil, &storage.Error{Op: "open archive", Err: err}
	}
	return &ReadOnly{a}, nil
}

// Close closes the folder.
func (r *ReadOnly) Close() error { return r.a.Close() }

// Location is [Archive.Location].
func (r *ReadOnly) Location(k storage.Key) string { return r.a.Location(k) }

// Open implements [storage.Archive].
func (r *ReadOnly) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	return r.a.Open(ctx, k, off, n)
}

// List implements [storage.Archive].
func (r *ReadOnly) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return r.a.List(ctx, prefix)
}

// Create returns [ErrReadOnly].
func (r *ReadOnly) Create(_ context.Context, k storage.Key, _ storage.Blob) error {
	return &storage.Error{Op: "create", Key: k, Err: ErrReadOnly}
}

// Append returns [ErrReadOnly].
func (r *ReadOnly) Append(_ context.Context, k storage.Key, _ int64, _ storage.Blob) error {
	return &storage.Error{Op: "append", Key: k, Err: ErrReadOnly}
}
