package record_test

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// asked is an archive that counts its requests.
type asked struct {
	*memory.Archive
	created, appended, opened, listed atomic.Int64
}

func (a *asked) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	a.created.Add(1)
	return a.Archive.Create(ctx, k, b)
}

func (a *asked) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	a.appended.Add(1)
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *asked) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	a.opened.Add(1)
	return a.Archive.Open(ctx, k, off, n)
}

func (a *asked) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	a.listed.Add(1)
	return a.Archive.List(ctx, prefix)
}

func (a *asked) reset() {
	for _, n := range []*atomic.Int64{&a.created, &a.appended, &a.opened, &a.listed} {
		n.Store(0)
	}
}

// The manifest knows which names are free. So a step looks up only whether another
// process has committed it, and the hundredth final transcript looks up nothing.
func TestNamesNeedNoLookup(t *testing.T) {
	a := &asked{Archive: memory.New()}
	s := session(t, a, "s")
	step(t, s, 1)
	for range 99 {
		must(t, second(s.Final(t.Context(), lines("f", 1))))
	}
	a.reset()
	step(t, s, 2)
	if c, ap, o, l := a.created.Load(), a.appended.Load(), a.opened.Load(), a.listed.Load(); c != 3 || ap != 5 || o > 1 || l > 0 {
		t.Errorf("a step: %d files, %d appends, %d reads, %d listings", c, ap, o, l)
	}
	a.reset()
	w, err := s.Final(t.Context(), lines("f", 1))
	must(t, err)
	if c, ap, o, l := a.created.Load(), a.appended.Load(), a.opened.Load(), a.listed.Load(); c != 1 || ap != 2 || o+l > 0 || w.Key.Base() != "transcript-final-100.jsonl" {
		t.Errorf("%s: %d files, %d appends, %d reads, %d listings; want 1 and 2", w.Key, c, ap, o, l)
	}
}

// Two sessions opened independently take different names. A name that a dead process
// has announced is not taken again.
func TestNamesAreUnique(t *testing.T) {
	a := &failing{Archive: memory.New()}
	one, two := session(t, a, "s"), session(t, a, "s")
	must(t, second(one.Transcript(t.Context(), 1, lines("one", 1))))
	w, err := two.Transcript(t.Context(), 1, lines("two", 1))
	must(t, err)
	if w.Key.Base() != "transcript-pre-compact-001.2.jsonl" {
		t.Errorf("the second is %s", w.Key)
	}
	a.fail = func(op string, _ storage.Key) error {
		if op == "create" {
			return errDisk
		}
		return nil
	}
	if _, err := one.Summary(t.Context(), 1, text(`{"n":1}`)); err == nil {
		t.Fatal("a summary was stored on a full disk")
	}
	a.fail = nil
	w, err = two.Summary(t.Context(), 1, text(`{"n":2}`))
	must(t, err)
	must(t, second(two.Commit(t.Context(), 1, text(`{"v":1,"step":1}`))))
	if w.Key.Base() != "summary-001.2.json" {
		t.Errorf("the summary is %s", w.Key)
	}
	wantOK(t, a, "s")
}
