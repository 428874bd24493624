package spool_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// TestEraseRemovesTheLocalPartInEveryState erases sessions that are sent, waiting, in
// conflict, or left by a crash during their removal from the disk.
func TestEraseRemovesTheLocalPartInEveryState(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string, r *remote, s *spool.Spool){
		"waiting": func(*testing.T, string, *remote, *spool.Spool) {},
		"sent":    func(t *testing.T, _ string, _ *remote, s *spool.Spool) { must(t, s.Flush(t.Context())) },
		"half removed": func(t *testing.T, dir string, _ *remote, s *spool.Spool) {
			must(t, s.Flush(t.Context()))
			must(t, os.Remove(filepath.Join(dir, "state", "s", "origin")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, r := t.TempDir(), newRemote()
			s := open(t, dir, r, &spool.Options{Passive: true})
			must(t, step(t.Context(), session(t, s, "s")))
			make(t, dir, r, s)
			_, err := session(t, s, "s").Erase(t.Context(), redact.Text{})
			must(t, err)
			must(t, s.Flush(t.Context()))
			nothingOf(t, dir, "s")
			if got := keys(t, r); len(got) != 1 || !strings.Contains(got[0], "_erased") {
				t.Errorf("the remote archive has %q", got)
			}
		})
	}
}

// A session in conflict takes no appends, so its manifest can't record that it is being
// erased.
func TestSweepRemovesASessionInConflict(t *testing.T) {
	dir, r := t.TempDir(), newRemote()
	s := open(t, dir, r, &spool.Options{Passive: true})
	log := session(t, s, "s")
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	must(t, step(t.Context(), session(t, r, "s"))) // another machine
	must(t, step(t.Context(), log))
	if err := s.Flush(t.Context()); !errors.Is(err, spool.ErrConflict) {
		t.Fatalf("got %v, want ErrConflict", err)
	}
	if _, err := session(t, s, "s").Erase(t.Context(), redact.Text{}); !errors.Is(err, spool.ErrConflict) {
		t.Fatalf("got %v, want ErrConflict", err)
	}
	_, err := s.Sweep(t.Context(), key(t, "s"))
	must(t, err)
	nothingOf(t, dir, "s")
	must(t, s.Flush(t.Context()))
}

// nothingOf fails if the folder of a spool has files of a session.
func nothingOf(t *testing.T, dir, id string) {
	t.Helper()
	for _, sub := range []string{"archive", "state"} {
		if _, err := os.Stat(filepath.Join(dir, sub, record.EscapeSession(id))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of %s: %v, want ErrNotExist", sub, id, err)
		}
	}
}
