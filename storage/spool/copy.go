package spool

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/unchecked"
)

// stored returns n bytes of k from off (n < 0: to the end), as a Blob for
// another archive.
func stored(ctx context.Context, a storage.Archive, k storage.Key, off, n int64) (storage.Blob, error) {
	r, err := a.Open(ctx, k, off, n)
	if err != nil {
		return storage.Blob{}, err
	}
	var b strings.Builder
	_, err = io.Copy(&b, r)
	if err := errors.Join(err, r.Close()); err != nil {
		return storage.Blob{}, storage.Wrap("read", k, err)
	}
	blob, _ := unchecked.Blob(b.String()).(storage.Blob) // never fails
	return blob, nil
}
