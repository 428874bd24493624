package spool_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/spool"
)

// Half of the session is on the disk and half in the remote archive. A listing of one file
// has this file alone, wherever it is.
func TestListOfOneFileOfASessionInTwoPlaces(t *testing.T) {
	r := newRemote()
	must(t, step(t.Context(), session(t, r, "alice")))
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true})
	must(t, step(t.Context(), session(t, s, "alice")))
	list := func(prefix string) (found []string) {
		for info, err := range s.List(t.Context(), key(t, prefix)) {
			must(t, err)
			found = append(found, info.Key.String())
		}
		return found
	}
	all := list("alice")
	for _, k := range []string{"alice/ledger-001.json", "alice/ledger-002.json", "alice/manifest.jsonl"} {
		if got := list(k); !slices.Equal(got, []string{k}) || !slices.Contains(all, k) {
			t.Errorf("the listing of %s has %q, the listing of its session %q", k, got, all)
		}
	}
	if got := list("alice/ledger-003.json"); len(got) > 0 {
		t.Errorf("the listing of a missing file has %q", got)
	}
}

// A process that writes to a session that another machine has erased puts nothing on the
// disk, so that the next session of that name, which begins on another machine, is read
// from the remote archive.
func TestAppendToAnErasedSessionLeavesNothingOnTheDisk(t *testing.T) {
	r := newRemote()
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true, Keep: time.Nanosecond})
	must(t, step(t.Context(), session(t, s, "alice")))
	must(t, s.Flush(t.Context()))
	must(t, s.Evict(t.Context()))
	must(t, second(session(t, r, "alice").Erase(t.Context(), redact.Text{})))
	if err := s.Append(t.Context(), key(t, "alice/events.jsonl"), 100, storage.Redacted(text("more\n"))); !errors.Is(err, storage.ErrSeq) {
		t.Errorf("append: %v, want ErrSeq", err)
	}
	must(t, step(t.Context(), session(t, r, "alice")))
	found := 0
	for _, err := range s.List(t.Context(), key(t, "alice")) {
		must(t, err)
		found++
	}
	if found == 0 {
		t.Error("the new session has no files")
	}
}

// A file of another program in the folder of the spool is listed as foreign, so that verify
// reports it.
func TestAForeignFileOnTheDiskIsListed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, newRemote(), &spool.Options{Passive: true})
	must(t, step(t.Context(), session(t, s, "alice")))
	must(t, os.WriteFile(filepath.Join(dir, "archive", "alice", ".notes"), nil, 0o600))
	for _, prefix := range []storage.Key{{}, key(t, "alice")} {
		var foreign []string
		for info, err := range s.List(t.Context(), prefix) {
			must(t, err)
			if info.Foreign != "" {
				foreign = append(foreign, info.Foreign)
			}
		}
		if !slices.Equal(foreign, []string{"alice/.notes"}) {
			t.Errorf("below %q the foreign files are %q", prefix, foreign)
		}
	}
}
