package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

var lockedUntil = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)

// keeper is an archive that keeps one file.
type keeper struct {
	*memory.Archive
	keeps string
}

func (k *keeper) Kept(_ context.Context, key storage.Key) error {
	if key.Base() == k.keeps {
		return storage.Wrap("look for a lock", key, &storage.LockedError{By: "a test", Until: lockedUntil})
	}
	return nil
}

// stones returns the tombstones of an archive, at least one, and checks that their log
// is complete.
func stones(t *testing.T, a storage.Archive) []record.Tombstone {
	t.Helper()
	var out []record.Tombstone
	for stone, err := range record.Tombstones(t.Context(), a) {
		must(t, err)
		out = append(out, stone)
	}
	r, err := record.VerifyTombstones(t.Context(), a)
	must(t, err)
	if !r.OK() || len(out) == 0 {
		t.Fatalf("%d tombstones, %v, want no problems", len(out), r.Problems)
	}
	return out
}

var withoutTime = cmpopts.IgnoreFields(record.Tombstone{}, "At")

func TestRefusedEraseIsRecorded(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	step(t, s, 1)
	must(t, s.Hold(t.Context(), text("case 7")))
	if _, err := s.Erase(t.Context(), redact.Lit("request 12")); !errors.Is(err, record.ErrHeld) {
		t.Errorf("Erase: %v, want ErrHeld", err)
	}
	must(t, s.Release(t.Context(), redact.Text{}))
	must(t, second(s.Erase(t.Context(), redact.Lit("request 12, again"))))
	got := stones(t, a)
	if len(got) != 3 || got[0].Refused != "under a legal hold" || got[0].Session != got[2].Session || !got[2].Done || got[2].Refused != "" {
		t.Errorf("tombstones: %+v", got)
	}
}

func TestALockedSessionIsNeitherErasedNorSealed(t *testing.T) {
	a := &keeper{Archive: memory.New(), keeps: "ledger-001.json"}
	s, err := record.OpenSession(t.Context(), a, "s")
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
	_, err = s.Erase(t.Context(), redact.Lit("request 12"))
	if !errors.Is(err, storage.ErrLocked) || !strings.Contains(err.Error(), "2031-02-03T04:05:06Z") {
		t.Errorf("Erase: %v, want ErrLocked and until when", err)
	}
	for _, dry := range []bool{true, false} {
		for r, err := range record.Prune(t.Context(), a, record.PruneOptions{Before: time.Now().Add(time.Hour), DryRun: dry}) {
			if err != nil || r.Outcome != record.KeptLocked || !r.KeptUntil.Equal(lockedUntil) {
				t.Errorf("Prune, dry run %v: %+v, %v", dry, r, err)
			}
		}
	}
	if _, ok, err := record.Erased(t.Context(), a, "s"); ok || err != nil {
		t.Errorf("it counts as erased: %v", err)
	}
	stone := stones(t, a)[0]
	want := []record.Tombstone{{Session: stone.Session, Head: stone.Head, Life: stone.Life, Reason: "request 12", Refused: "kept by a lock", KeptUntil: lockedUntil}}
	if diff := cmp.Diff(want, stones(t, a), withoutTime); diff != "" {
		t.Errorf("tombstones; pruning asks for nobody (-want +got):\n%s", diff)
	}
	archive(2) // the session continues
	a.keeps = ""
	if stone, err := s.Erase(t.Context(), redact.Text{}); err != nil || !stone.Done {
		t.Errorf("after the end of all locks: %+v, %v", stone, err)
	}
}

// occupied is an archive that knows that it keeps something.
type occupied struct{ *keeper }

func (o occupied) Free(context.Context) bool { return o.keeps == "" }

// An archive that reports that it keeps something is asked about each file.
func TestALockInAnArchiveThatReportsItPreventsTheErase(t *testing.T) {
	a := occupied{&keeper{Archive: memory.New(), keeps: "ledger-001.json"}}
	s := session(t, a, "s")
	step(t, s, 1)
	if _, err := s.Erase(t.Context(), redact.Text{}); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("Erase: %v, want ErrLocked", err)
	}
	a.keeps = ""
	if stone, err := s.Erase(t.Context(), redact.Text{}); err != nil || !stone.Done {
		t.Errorf("after the end of all locks: %+v, %v", stone, err)
	}
}
