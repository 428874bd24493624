package spool_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/spool"
	"github.com/agentcompact/compact/storage/storagetest"
)

// deafArchive is a remote archive that answers nothing until it is released, or the
// context ends.
type deafArchive struct {
	*memory.Archive
	there, done chan struct{}
	once, ended sync.Once
}

func newDeaf() *deafArchive {
	return &deafArchive{Archive: memory.New(), there: make(chan struct{}), done: make(chan struct{})}
}

func (d *deafArchive) release() { d.ended.Do(func() { close(d.done) }) }

func (d *deafArchive) hang(ctx context.Context) error {
	d.once.Do(func() { close(d.there) })
	select {
	case <-d.done:
		return nil
	case <-ctx.Done():
		return &storage.Error{Op: "ask", Err: ctx.Err()}
	}
}

func (d *deafArchive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return errors.Join(d.hang(ctx), d.Archive.Create(ctx, k, b))
}

func (d *deafArchive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return errors.Join(d.hang(ctx), d.Archive.Append(ctx, k, seq, b))
}

func (d *deafArchive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if err := d.hang(ctx); err != nil {
		return nil, err
	}
	return d.Archive.Open(ctx, k, off, n)
}

func (d *deafArchive) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if err := d.hang(ctx); err != nil {
		return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, err) }
	}
	return d.Archive.List(ctx, prefix)
}

func (d *deafArchive) Remove(ctx context.Context, k storage.Key) error {
	return errors.Join(d.hang(ctx), d.Archive.Remove(ctx, k))
}

func TestOperationsEndWithTheirContextIfTheRemoteArchiveHangs(t *testing.T) {
	for name, o := range map[string]spool.Options{"in the background": {}, "blind": {Blind: true}, "passive": {Passive: true}} {
		t.Run(name, func(t *testing.T) {
			storagetest.RunHanging(t, func(t testing.TB) (storage.Archive, func() (<-chan struct{}, func())) {
				d := newDeaf()
				s := open(t, t.TempDir(), d, &o)
				return s, func() (<-chan struct{}, func()) { return d.there, d.release }
			})
		})
	}
}

// Close and Flush also end with their context if the remote archive does not answer.
func TestCloseWaitsNoLongerThanWanted(t *testing.T) {
	d := newDeaf()
	s := open(t, t.TempDir(), d, &spool.Options{Blind: true})
	long, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(t, s.Create(long, key(t, "s/f"), storage.Blob{}))
	for name, end := range map[string]func(context.Context) error{"Flush": s.Flush, "Close": s.Close} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		began := time.Now()
		err := end(ctx)
		cancel()
		if waited := time.Since(began); waited > 5*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s waited %s: %v, want DeadlineExceeded", name, waited, err)
		}
	}
	d.release()
}
