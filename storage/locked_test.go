package storage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// keeper is an archive that keeps one file.
type keeper struct {
	*memory.Archive
	keeps string
}

func (k *keeper) Kept(_ context.Context, key storage.Key) error {
	if key.Base() == k.keeps {
		return &storage.Error{Op: "look for a lock", Key: key, Err: storage.ErrLocked}
	}
	return nil
}

func TestWhatIsLockedIsNotErasedNorSealed(t *testing.T) {
	a := &keeper{Archive: memory.New(), keeps: "ledger-001.json"}
	s, err := storage.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	archive := func(step int) {
		t.Helper()
		if _, err := s.Transcript(t.Context(), step, []redact.Text{redact.Lit("{}")}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Commit(t.Context(), step, redact.Lit("{}")); err != nil {
			t.Fatal(err)
		}
	}
	archive(1)
	if _, err := s.Erase(t.Context(), redact.Text{}); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("Erase: %v, want ErrLocked", err)
	}
	for r, err := range storage.Prune(t.Context(), a, storage.PruneOptions{Before: time.Now().Add(time.Hour)}) {
		if err != nil || r.Outcome != storage.KeptLocked {
			t.Errorf("Prune: %+v, %v", r, err)
		}
	}
	if _, ok, err := storage.Erased(t.Context(), a, "s"); ok || err != nil {
		t.Errorf("there is a tombstone: %v", err)
	}
	archive(2) // it goes on
	a.keeps = ""
	if stone, err := s.Erase(t.Context(), redact.Text{}); err != nil || !stone.Done {
		t.Errorf("when nothing is locked any more: %+v, %v", stone, err)
	}
}
