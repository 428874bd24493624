package spool_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

func TestUnsentDataStaysWithoutItsOrigin(t *testing.T) {
	dir, far := t.TempDir(), newRemote()
	s := open(t, dir, far, &spool.Options{Passive: true, Blind: true})
	log, err := record.OpenSession(t.Context(), s, "s")
	must(t, err)
	must(t, step(t.Context(), log))
	must(t, os.Remove(filepath.Join(dir, "state", "s", "origin")))
	if log, err = record.OpenSession(t.Context(), s, "s"); err == nil {
		err = step(t.Context(), log)
	}
	if !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("a step after waiting data: %v, want ErrDamaged", err)
	}
	must(t, s.Flush(t.Context()))
	r, err := record.Verify(t.Context(), far, "s", record.VerifyOptions{})
	must(t, err)
	if r.Steps != 1 || len(r.Problems) > 0 {
		t.Errorf("%d steps arrived, %v, want 1", r.Steps, r.Problems)
	}
}

// If the remote archive lost a file that it had confirmed, the session must not be
// removed from the disk: it stays there, in conflict.
func TestASessionLostByTheRemoteArchiveStaysOnTheDisk(t *testing.T) {
	dir, far := t.TempDir(), newRemote()
	s := open(t, dir, far, &spool.Options{Passive: true, Keep: time.Nanosecond})
	log, err := record.OpenSession(t.Context(), s, "s")
	must(t, err)
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	must(t, far.Archive.Remove(t.Context(), key(t, "s/ledger-001.json")))
	must(t, s.Evict(t.Context()))
	if _, err := os.Stat(filepath.Join(dir, "archive", "s", "ledger-001.json")); err != nil {
		t.Errorf("the only copy is gone: %v", err)
	}
	if w, err := s.Waiting(); err != nil || len(w.Conflicts) != 1 {
		t.Errorf("%+v, %v: want one conflict", w, err)
	}
}

func TestASessionErasedByAnotherMachineLeavesTheDisk(t *testing.T) {
	dir, far := t.TempDir(), newRemote()
	s := open(t, dir, far, &spool.Options{Passive: true, Keep: time.Nanosecond})
	log, err := record.OpenSession(t.Context(), s, "s")
	must(t, err)
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	other, err := record.OpenSession(t.Context(), far, "s")
	must(t, err)
	_, err = other.Erase(t.Context(), text("asked for"))
	must(t, err)
	must(t, s.Evict(t.Context()))
	if _, err := os.Stat(filepath.Join(dir, "archive", "s", "ledger-001.json")); !os.IsNotExist(err) {
		t.Errorf("the ledger is still on the disk: %v", err)
	}
}

// A session counted as new because the remote archive was away, and its process died before
// it wrote anything. The remote archive's session of that name is then not hidden.
func TestASessionThatWasNeverWrittenHidesNothing(t *testing.T) {
	dir, far := t.TempDir(), newRemote()
	must(t, step(t.Context(), session(t, far, "s")))
	state := filepath.Join(dir, "state", "s")
	must(t, os.MkdirAll(state, 0o700))
	must(t, os.WriteFile(filepath.Join(state, "origin"), []byte("compact spool 1 blind=true\nend\n"), 0o600))
	s := open(t, dir, far, &spool.Options{Passive: true, Blind: true})
	sound(t, s, "s", 1)
	must(t, step(t.Context(), session(t, s, "s")))
	must(t, s.Flush(t.Context()))
	sound(t, far, "s", 2)
}
