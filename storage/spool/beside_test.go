package spool_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// The heads of a commit that the remote archive does not have would report the commit
// as removed there. So heads are sent after their sessions.
func TestHeadsAreSentAfterTheirSessions(t *testing.T) {
	far := newRemote()
	far.refused = func(session string) bool { return session == "alice" }
	s := open(t, t.TempDir(), far, &spool.Options{Passive: true})
	h := record.NewHeads(s, nil)
	for _, id := range []string{"alice", "bob"} {
		x, err := record.OpenSession(t.Context(), s, id)
		must(t, err)
		x.KeepHeads(h)
		_, err = x.Originals(t.Context(), 1, nil)
		must(t, err)
		_, err = x.Commit(t.Context(), 1, text(`{"v":1}`))
		must(t, err)
	}
	if err := s.Flush(t.Context()); err == nil {
		t.Fatal("Flush sent alice's session")
	}
	if n := wrong(t, far); n > 0 {
		t.Errorf("%d problems in the remote archive while alice waits", n)
	}
	here, err := s.Sessions()
	must(t, err)
	if len(here) != 2 {
		t.Errorf("on the disk are %q", here)
	}
	far.mu.Lock()
	far.refused = nil
	far.mu.Unlock()
	must(t, s.Flush(t.Context()))
	if n := wrong(t, far); n > 0 {
		t.Errorf("%d problems in the remote archive", n)
	}
	book, err := record.ReadHeads(t.Context(), far, record.HeadsOptions{})
	must(t, err)
	for _, id := range []string{"alice", "bob"} {
		r, err := record.Verify(t.Context(), far, id, record.VerifyOptions{Heads: book})
		must(t, err)
		if !r.OK() || !r.TailProven {
			t.Errorf("%s: %q, proven %v; want no problems and true", id, r.Problems, r.TailProven)
		}
	}
}

// A session in conflict is never sent. The heads of the other sessions don't wait for
// this session.
func TestHeadsDoNotWaitForASessionInConflict(t *testing.T) {
	far := newRemote()
	far.goAway(true)
	here, there := open(t, t.TempDir(), far, &spool.Options{Blind: true, Passive: true}), open(t, t.TempDir(), far, &spool.Options{Blind: true, Passive: true})
	must(t, step(t.Context(), session(t, there, "both")))
	must(t, step(t.Context(), session(t, here, "both")))
	must(t, step(t.Context(), headed(t, here, "alice")))
	far.goAway(false)
	must(t, there.Flush(t.Context()))
	if err := here.Flush(t.Context()); !errors.Is(err, spool.ErrConflict) {
		t.Fatalf("there is no conflict: %v, want ErrConflict", err)
	}
	book, err := record.ReadHeads(t.Context(), far, record.HeadsOptions{})
	must(t, err)
	r, err := record.Verify(t.Context(), far, "alice", record.VerifyOptions{Heads: book})
	if must(t, err); !r.OK() || !r.TailProven {
		t.Errorf("%q, proven %v; want no problems and true", r.Problems, r.TailProven)
	}
}

// busy is an archive that takes so long for its first file that another session begins.
type busy struct {
	*remote
	once      sync.Once
	meanwhile func()
}

func (b *busy) Create(ctx context.Context, k storage.Key, blob storage.Blob) error {
	b.once.Do(b.meanwhile)
	return b.remote.Create(ctx, k, blob)
}

// While agents work, they always write something during a pass. The heads of the data from
// before the pass are sent nevertheless.
func TestHeadsDoNotWaitForSessionsThatBeganDuringThePass(t *testing.T) {
	far := &busy{remote: newRemote()}
	s := open(t, t.TempDir(), far, &spool.Options{Passive: true})
	far.meanwhile = func() { must(t, step(t.Context(), headed(t, s, "bob"))) }
	must(t, step(t.Context(), headed(t, s, "alice")))
	must(t, s.Flush(t.Context()))
	if w, err := s.Waiting(); err != nil || w.Sessions != 1 {
		t.Fatalf("%+v waits, %v; want bob to wait", w, err)
	}
	book, err := record.ReadHeads(t.Context(), far, record.HeadsOptions{})
	must(t, err)
	r, err := record.Verify(t.Context(), far, "alice", record.VerifyOptions{Heads: book})
	if must(t, err); !r.OK() || !r.TailProven {
		t.Errorf("%q, proven %v; want no problems and true", r.Problems, r.TailProven)
	}
	if n := wrong(t, far); n > 0 {
		t.Errorf("%d problems in the remote archive while bob waits", n)
	}
}

// wrong counts the problems that the heads of an archive report.
func wrong(t *testing.T, a storage.Archive) int {
	t.Helper()
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	gone, err := book.Vanished(t.Context(), a)
	must(t, err)
	return len(gone) + len(book.Report().Problems)
}
