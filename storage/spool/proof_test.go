package spool_test

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// withoutLife converts the tombstones of an archive to tombstones of version 0.1.0.
func withoutLife(t *testing.T, r *remote) {
	t.Helper()
	k := key(t, "_erased.jsonl")
	f, err := r.Archive.Open(t.Context(), k, 0, -1)
	must(t, err)
	data, err := io.ReadAll(f)
	must(t, errors.Join(err, f.Close()))
	b := storage.Redacted(text(regexp.MustCompile(`,"life":"[0-9a-f]*"`).ReplaceAllString(string(data), "")))
	must(t, r.Archive.Remove(t.Context(), k))
	must(t, r.Archive.Append(t.Context(), k, 0, b))
}

// wantConflict checks that a flush finds a conflict with this reason, and that the disk
// has both steps.
func wantConflict(t *testing.T, s *spool.Spool, why string) {
	t.Helper()
	for range 2 {
		if err := s.Flush(t.Context()); !errors.Is(err, spool.ErrConflict) || !strings.Contains(err.Error(), why) {
			t.Errorf("flush: %v, want ErrConflict and an error with %q", err, why)
		}
		must(t, s.Evict(t.Context()))
	}
	sound(t, s, "alice", 2)
}

// A tombstone of version 0.1.0 does not identify the erased session, only its name. A
// session that the remote archive has lost stays on the disk, whether it has unsent
// data or not.
func TestLostSessionStaysAfterAnEraseOfItsName(t *testing.T) {
	for name, waits := range map[string]bool{"waiting": true, "sent": false} {
		t.Run(name, func(t *testing.T) {
			r := newRemote()
			must(t, step(t.Context(), session(t, r, "alice")))
			must(t, second(session(t, r, "alice").Erase(t.Context(), redact.Text{})))
			withoutLife(t, r)
			s := open(t, t.TempDir(), r, &spool.Options{Passive: true, Keep: time.Nanosecond})
			log := session(t, s, "alice")
			must(t, step(t.Context(), log))
			must(t, s.Flush(t.Context()))
			must(t, step(t.Context(), log))
			if !waits {
				must(t, s.Flush(t.Context()))
			}
			for _, k := range keys(t, r) {
				if strings.HasPrefix(k, "alice/") {
					must(t, r.Archive.Remove(t.Context(), key(t, k)))
				}
			}
			if !waits {
				must(t, s.Evict(t.Context()))
			}
			wantConflict(t, s, "the tombstone does not show whether it was this one")
		})
	}
}

// A session that began on another machine, and of which this one has sent nothing yet, is
// not a new session either: what waits here must not bring it back after an erase, without its
// first step. The process that sends it need not be the one that wrote it.
func TestErasedSessionOfAnotherMachineDoesNotComeBack(t *testing.T) {
	for name, identified := range map[string]bool{"a tombstone of this session": true, "a tombstone of version 0.1.0": false} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRemote(), t.TempDir()
			must(t, step(t.Context(), session(t, r, "alice")))
			must(t, step(t.Context(), session(t, open(t, dir, r, &spool.Options{Passive: true}), "alice")))
			must(t, second(session(t, r, "alice").Erase(t.Context(), redact.Text{})))
			if !identified {
				withoutLife(t, r)
			}
			s := open(t, dir, r, &spool.Options{Passive: true})
			err := s.Flush(t.Context())
			if conflict := errors.Is(err, spool.ErrConflict) && strings.Contains(err.Error(), "the tombstone does not show whether it was this one"); conflict == identified || identified && err != nil {
				t.Errorf("flush: %v", err)
			}
			for _, k := range keys(t, r) {
				if strings.HasPrefix(k, "alice/") {
					t.Errorf("%s is back", k)
				}
			}
			if _, err := s.Open(t.Context(), key(t, "alice/ledger-002.json"), 0, -1); identified && !errors.Is(err, storage.ErrNotExist) {
				t.Errorf("the erased session is still on the disk: %v", err)
			}
		})
	}
}

// A tombstone of an erase that was refused proves no erase: a session that the remote archive
// has lost stays on the disk, which has the only copy.
func TestLostSessionStaysAfterARefusedErase(t *testing.T) {
	r := newRemote()
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true})
	must(t, step(t.Context(), session(t, s, "alice")))
	must(t, s.Flush(t.Context()))
	must(t, session(t, r, "alice").Hold(t.Context(), text("case 7")))
	if err := second(session(t, r, "alice").Erase(t.Context(), redact.Text{})); !errors.Is(err, record.ErrHeld) {
		t.Fatalf("the erase ends with %v, want ErrHeld", err)
	}
	for _, k := range keys(t, r) {
		if strings.HasPrefix(k, "alice/") {
			must(t, r.Archive.Remove(t.Context(), key(t, k)))
		}
	}
	_ = s.Evict(t.Context())
	sound(t, s, "alice", 1)
}

// An operator who erases a session can't know of a hold that waits on another machine.
func TestSessionUnderAHoldStaysAlthoughItWasErased(t *testing.T) {
	r := newRemote()
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true})
	log := session(t, s, "alice")
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	must(t, log.Hold(t.Context(), text("case 7")))
	must(t, step(t.Context(), log))
	must(t, second(session(t, r, "alice").Erase(t.Context(), redact.Text{})))
	wantConflict(t, s, "under a legal hold here: case 7")
}

// If the remote archive has lost a file of a session, or the end of a file, the disk
// keeps the only whole copy, although the remote archive had confirmed it.
func TestPartlyLostSessionStays(t *testing.T) {
	for name, lose := range map[string]func(r *remote, k storage.Key, data string) error{
		"a file": func(*remote, storage.Key, string) error { return nil },
		"the end of a file": func(r *remote, k storage.Key, data string) error {
			return r.Append(t.Context(), k, 0, storage.Redacted(text(data[:strings.Index(data, "\n")+1])))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote()
			s := open(t, t.TempDir(), r, &spool.Options{Passive: true, Keep: time.Nanosecond})
			must(t, step(t.Context(), session(t, s, "alice")))
			must(t, s.Flush(t.Context()))
			k := key(t, "alice/manifest.jsonl")
			f, err := r.Open(t.Context(), k, 0, -1)
			must(t, err)
			data, err := io.ReadAll(f)
			must(t, errors.Join(err, f.Close(), r.Archive.Remove(t.Context(), k), lose(r, k, string(data))))
			must(t, s.Evict(t.Context()))
			sound(t, s, "alice", 1)
			if err := s.Flush(t.Context()); !errors.Is(err, spool.ErrConflict) || !strings.Contains(err.Error(), k.String()) {
				t.Errorf("flush: %v, want ErrConflict", err)
			}
		})
	}
}
