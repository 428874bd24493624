package storagetest_test

import (
	"context"
	"io"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/storagetest"
)

// kindArchive is a [storage.KindOpener] with a planted fault.
type kindArchive struct {
	*memory.Archive
	fault string
}

func (a *kindArchive) OpenFile(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if a.fault == "range" {
		off = 0
	}
	return a.Open(ctx, k, off, n)
}

func (a *kindArchive) OpenLog(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, int64, error) {
	var size int64
	for info, err := range a.List(ctx, k) {
		if err != nil {
			return nil, 0, err
		}
		size = info.Size
	}
	if a.fault == "size" {
		size = n
	}
	r, err := a.Open(ctx, k, off, n)
	if a.fault == "none" && err != nil {
		return nil, 0, io.ErrUnexpectedEOF
	}
	return r, size, err
}

func TestSuiteFindsFaultsOfAKindOpener(t *testing.T) {
	for fault, want := range map[string]int{"": 0, "range": 1, "size": 1, "none": 1} {
		found := storagetest.Check(t, func(testing.TB) (storage.Archive, storage.Archive) {
			a := &kindArchive{memory.New(), fault}
			return a, a
		}, "OpenKnowsTheKind")
		if len(found) != want {
			t.Errorf("fault %q: %v", fault, found)
		}
	}
}
