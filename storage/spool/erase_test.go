package spool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

func entries(t testing.TB, dir string) int {
	t.Helper()
	all, err := os.ReadDir(dir)
	must(t, err)
	return len(all)
}

func TestEraseRemovesASessionFromDiskAndRemoteArchive(t *testing.T) {
	for name, flushed := range map[string]bool{"sent": true, "waiting": false} {
		t.Run(name, func(t *testing.T) {
			dir, r := t.TempDir(), newRemote()
			s := open(t, dir, r, &spool.Options{Passive: true})
			must(t, step(t.Context(), session(t, s, "stays")))
			log := session(t, s, "s")
			must(t, step(t.Context(), log))
			must(t, s.Flush(t.Context()))
			must(t, step(t.Context(), log))
			if flushed {
				must(t, s.Flush(t.Context()))
			}
			stone, err := log.Erase(t.Context(), redact.Lit("asked for"))
			must(t, err)
			if !stone.Done {
				t.Errorf("the tombstone has %+v", stone)
			}
			must(t, s.Flush(t.Context()))
			for _, a := range []storage.Archive{s, r} {
				for k := range holdings(t, a) {
					if key(t, k).Dir() == "s" {
						t.Errorf("%s is left", k)
					}
				}
				if _, ok, err := record.Erased(t.Context(), a, "s"); !ok || err != nil {
					t.Errorf("tombstone: %v, %v; want true and no error", ok, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "archive", "s")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder: %v, want ErrNotExist", err)
			}
			if n := entries(t, filepath.Join(dir, "state")); n != 1 {
				t.Errorf("%d sessions have a state, want 1", n)
			}
			if err := step(t.Context(), log); err == nil {
				t.Error("a session that had it open continues")
			}
			sound(t, r, "stays", 1)
		})
	}
}

func TestEraseThatFailsCanBeRepeated(t *testing.T) {
	r := newRemote()
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true})
	log := session(t, s, "s")
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	r.goAway(true)
	if _, err := log.Erase(t.Context(), redact.Text{}); !errors.Is(err, errAway) {
		t.Fatalf("got %v, want errAway", err)
	}
	r.goAway(false)
	_, err := session(t, s, "s").Erase(t.Context(), redact.Text{})
	must(t, err)
	must(t, s.Flush(t.Context()))
	if got := keys(t, r); len(got) != 1 {
		t.Errorf("these files are left: %q", got)
	}
}

func TestSessionThatWasErasedElsewhereIsNotSentAgain(t *testing.T) {
	for name, restarted := range map[string]bool{"same process": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			dir, r := t.TempDir(), newRemote()
			s := open(t, dir, r, &spool.Options{Passive: true})
			log := session(t, s, "s")
			must(t, step(t.Context(), log))
			must(t, s.Flush(t.Context()))
			_, err := session(t, r, "s").Erase(t.Context(), redact.Text{})
			must(t, err)
			must(t, step(t.Context(), log))
			if restarted {
				s = open(t, dir, r, &spool.Options{Passive: true})
			}
			must(t, s.Flush(t.Context()))
			if got := keys(t, r); len(got) != 1 {
				t.Errorf("there is again %q", got)
			}
		})
	}
}

func TestSessionLeavesTheDiskWhenItWasSentAndIsOld(t *testing.T) {
	dir, r := t.TempDir(), newRemote()
	s := open(t, dir, r, &spool.Options{Passive: true, Keep: time.Hour})
	for _, id := range []string{"old", "young", "old and waiting"} {
		must(t, step(t.Context(), session(t, s, id)))
		if id == "young" {
			must(t, s.Flush(t.Context()))
		}
	}
	for _, id := range []string{"old", "old and waiting"} {
		past := time.Now().Add(-2 * time.Hour)
		must(t, os.Chtimes(filepath.Join(dir, "state", record.EscapeSession(id), "queue"), past, past))
	}
	want := holdings(t, s)
	must(t, s.Evict(t.Context()))
	for id, left := range map[string]bool{"old": true, "young": false, "old and waiting": false} {
		if _, err := os.Stat(filepath.Join(dir, "archive", record.EscapeSession(id))); errors.Is(err, os.ErrNotExist) != left {
			t.Errorf("the session is on the disk or not, want the opposite: %s: %v", id, err)
		}
	}
	if got := holdings(t, s); len(got) != len(want) {
		t.Errorf("%d keys of %d can be read", len(got), len(want))
	}
	must(t, step(t.Context(), session(t, s, "old"))) // the session returns to the disk
	must(t, s.Flush(t.Context()))
	sound(t, r, "old", 2)
	same(t, r, s)
}

// A log that was removed and began again is shorter than the part that was sent before.
// The difference is no conflict: every later part of the log is sent.
func TestRemovedLogIsSentAgain(t *testing.T) {
	for name, flushed := range map[string]bool{"its removal was sent": true, "its removal waits": false} {
		t.Run(name, func(t *testing.T) {
			r := newRemote()
			s := open(t, t.TempDir(), r, &spool.Options{Passive: true})
			line, log := storage.Redacted(text("line\n")), key(t, "s/log")
			must(t, s.Create(t.Context(), key(t, "s/f"), line))
			must(t, s.Append(t.Context(), log, 0, storage.Redacted(text("a longer line\n"))))
			must(t, s.Flush(t.Context()))
			must(t, s.Remove(t.Context(), log))
			for n := range int64(3) {
				if flushed {
					must(t, s.Flush(t.Context()))
				}
				must(t, s.Append(t.Context(), log, n*line.Size(), line))
			}
			must(t, s.Flush(t.Context()))
			same(t, r, s)
		})
	}
}

// A file of another program in the folder of a session stays there, and stops no erase.
func TestEraseLeavesAFileOfAnotherProgram(t *testing.T) {
	dir, r := t.TempDir(), newRemote()
	s := open(t, dir, r, &spool.Options{Passive: true})
	log := session(t, s, "s")
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	other := filepath.Join(dir, "archive", "s", "Of Another Program")
	must(t, os.WriteFile(other, []byte("x"), 0o600))
	stone, err := log.Erase(t.Context(), redact.Lit("asked for"))
	if err != nil || !stone.Done {
		t.Errorf("%+v, %v, want a complete erase and no error", stone, err)
	}
	must(t, s.Flush(t.Context()))
	if n := entries(t, filepath.Dir(other)); n != 1 || len(keys(t, r)) != 1 {
		t.Errorf("%d files are left on the disk, and in the remote archive %q", n, keys(t, r))
	}
	must(t, second(os.Stat(other)))
}

// unswept is a remote archive whose pieces can't be swept.
type unswept struct{ *remote }

func (unswept) Sweep(context.Context, storage.Key) ([]string, error) {
	return []string{"a piece there"}, errAway
}

// A sweep that fails in the remote archive fails, and names what is left there.
func TestAFailedSweepOfTheRemoteArchiveIsReported(t *testing.T) {
	s := open(t, t.TempDir(), unswept{newRemote()}, &spool.Options{Passive: true})
	if left, err := s.Sweep(t.Context(), key(t, "alice")); !errors.Is(err, errAway) || len(left) != 1 {
		t.Errorf("%q, %v, want errAway", left, err)
	}
}
