package crypt_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
)

// bulkArchive is an archive that removes many files at once, and counts its requests.
type bulkArchive struct {
	*memory.Archive
	removes, atOnce, kept int
	locked                storage.Key
}

func (a *bulkArchive) Remove(ctx context.Context, k storage.Key) error {
	a.removes++
	return a.Archive.Remove(ctx, k)
}

func (a *bulkArchive) RemoveAll(ctx context.Context, keys []storage.Key) error {
	a.atOnce++
	for _, k := range keys {
		if err := a.Archive.Remove(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

func (a *bulkArchive) Kept(context.Context, storage.Key) error { return errors.New("asked one by one") }

func (a *bulkArchive) KeptAny(_ context.Context, keys []storage.Key) error {
	a.kept++
	for _, k := range keys {
		if k == a.locked {
			return &storage.LockedError{}
		}
	}
	return nil
}

func (a *bulkArchive) Free(context.Context) bool { return a.locked.IsZero() }

// An encrypted archive removes files in one batch if the archive below supports it,
// including the pieces of logs, and nothing else.
func TestRemovesManyAtOnce(t *testing.T) {
	p, inner := newPair(t), &bulkArchive{Archive: memory.New()}
	a := crypt.New(inner, keys(t, p.identity, p))
	b := storage.Redacted(text(t, "{}\n"))
	must(t, errors.Join(a.Create(t.Context(), key(t, "s/file"), b), a.Create(t.Context(), key(t, "s/stays"), b), a.Create(t.Context(), key(t, "s-2/file"), b)))
	for n := range 3 {
		must(t, a.Append(t.Context(), key(t, "s/log"), int64(n)*b.Size(), b))
		must(t, a.Append(t.Context(), key(t, "s/log-2"), int64(n)*b.Size(), b))
	}
	gone := []storage.Key{key(t, "s/file"), key(t, "s/log"), key(t, "s/none")}
	must(t, a.KeptAny(t.Context(), gone))
	if !a.Free(t.Context()) {
		t.Error("the archive below keeps nothing")
	}
	inner.locked = key(t, "s/log/00000000000000000003.age")
	if err := a.KeptAny(t.Context(), gone); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("a lock on the piece of a log: %v, want ErrLocked", err)
	}
	must(t, a.RemoveAll(t.Context(), nil))
	must(t, a.RemoveAll(t.Context(), gone))
	if inner.atOnce != 1 || inner.removes != 0 || inner.kept != 2 {
		t.Errorf("%d calls at once, %d alone, %d for locks; want 1, 0 and 2", inner.atOnce, inner.removes, inner.kept)
	}
	for k, want := range map[string]bool{"s/file": false, "s/log": false, "s/stays": true, "s/log-2": true, "s-2/file": true} {
		r, err := a.Open(t.Context(), key(t, k), 0, -1)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
		if got := err == nil; got != want {
			t.Errorf("%s exists: %v (%v); want %v", k, got, err, want)
		}
	}
	must(t, a.Append(t.Context(), key(t, "s/log"), 0, b)) // the old end of the log is forgotten
}

// If the inner archive has no batches, it removes the keys one after the other.
func TestRemovesOneByOneWithoutABatchMethod(t *testing.T) {
	p := newPair(t)
	a := crypt.New(memory.New(), keys(t, p.identity, p))
	b := storage.Redacted(text(t, "{}\n"))
	must(t, errors.Join(a.Create(t.Context(), key(t, "s/file"), b), a.Append(t.Context(), key(t, "s/log"), 0, b)))
	must(t, errors.Join(a.KeptAny(t.Context(), []storage.Key{key(t, "s/file")}), a.RemoveAll(t.Context(), []storage.Key{key(t, "s/file"), key(t, "s/log")})))
	for info := range a.List(t.Context(), storage.Key{}) {
		t.Errorf("%s is left", info.Key)
	}
}
