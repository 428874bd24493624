package spool_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// headed returns a session whose heads are kept.
func headed(t *testing.T, a storage.Archive, id string) *record.Session {
	t.Helper()
	s := session(t, a, id)
	s.KeepHeads(record.NewHeads(a, nil))
	return s
}

// onDisk returns the files of a spool whose content or name holds a text.
func onDisk(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	must(t, filepath.WalkDir(filepath.Join(dir), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			found = append(found, path)
		}
		return err
	}))
	return found
}

func TestNameOfARemotelyErasedSessionIsRemoved(t *testing.T) {
	dir, r := t.TempDir(), newRemote()
	s := open(t, dir, r, &spool.Options{Passive: true})
	must(t, step(t.Context(), headed(t, s, "alice")))
	must(t, step(t.Context(), headed(t, s, "bob")))
	must(t, s.Flush(t.Context()))
	must(t, second(headed(t, r, "alice").Erase(t.Context(), redact.Text{})))
	// An earlier version of the spool marks the folder of names as a
	// conflict.
	must(t, os.WriteFile(filepath.Join(dir, "state", "_names", "conflict"), []byte("the remote archive took 23 bytes"), 0o600))
	must(t, s.Evict(t.Context()))
	must(t, s.Flush(t.Context()))
	if got := onDisk(t, dir, "alice"); len(got) > 0 {
		t.Errorf("the disk still has %q", got)
	}
	if got := onDisk(t, dir, `"session":"bob"`); len(got) != 1 {
		t.Errorf("the name of another session: %q", got)
	}
	must(t, step(t.Context(), headed(t, s, "carl")))
	must(t, s.Flush(t.Context()))
	for _, id := range []string{"bob", "carl"} {
		sound(t, r, id, 1)
	}
}

func TestRemotelyErasedSessionIsRemovedAlthoughItsAgentContinues(t *testing.T) {
	for name, evicted := range map[string]bool{"sent": false, "evicted": true} {
		t.Run(name, func(t *testing.T) {
			dir, r := t.TempDir(), newRemote()
			s := open(t, dir, r, &spool.Options{Passive: true})
			log := session(t, s, "alice")
			must(t, step(t.Context(), log))
			must(t, s.Flush(t.Context()))
			must(t, second(session(t, r, "alice").Erase(t.Context(), redact.Text{})))
			must(t, step(t.Context(), log)) // stored on the disk only: the spool does not know of the erase
			if evicted {
				must(t, s.Evict(t.Context()))
			}
			must(t, s.Flush(t.Context()))
			if got := onDisk(t, dir, "what a tool said"); len(got) > 0 {
				t.Errorf("the disk still has %q", got)
			}
			if err := step(t.Context(), log); !errors.Is(err, record.ErrErased) {
				t.Errorf("the agent continues: %v, want ErrErased", err)
			}
			must(t, s.Flush(t.Context()))
			if got := keys(t, r); len(got) != 1 {
				t.Errorf("the remote archive has again the files %q", got)
			}
		})
	}
}

// A session that began under the name of an erased one is a different session.
func TestSessionThatBeganAfterAnEraseStays(t *testing.T) {
	r := newRemote()
	must(t, step(t.Context(), session(t, r, "alice")))
	must(t, second(session(t, r, "alice").Erase(t.Context(), redact.Text{})))
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true})
	must(t, step(t.Context(), session(t, s, "alice")))
	must(t, s.Evict(t.Context()))
	sound(t, s, "alice", 1)
	must(t, s.Flush(t.Context()))
	sound(t, r, "alice", 1)
}

func second[T any](_ T, err error) error { return err }

// failingListings is an archive whose next listings of one session fail; left counts
// them.
type failingListings struct {
	*remote
	of   storage.Key
	left int
}

func (b *failingListings) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if prefix == b.of && b.left > 0 {
		b.left--
		return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, errAway) }
	}
	return b.remote.List(ctx, prefix)
}

// After an error, the spool must try again to remove erased sessions from the disk, even if
// there is no new tombstone.
func TestErasedSessionLeavesAfterAFailedAttempt(t *testing.T) {
	dir, r := t.TempDir(), &failingListings{remote: newRemote(), of: key(t, "alice")}
	s := open(t, dir, r, &spool.Options{Passive: true})
	must(t, step(t.Context(), session(t, s, "alice")))
	must(t, s.Flush(t.Context()))
	must(t, second(session(t, r.remote, "alice").Erase(t.Context(), redact.Text{})))
	r.left = 1
	if err := s.Evict(t.Context()); !errors.Is(err, errAway) {
		t.Fatalf("got %v, want the error of the remote archive", err)
	}
	must(t, s.Evict(t.Context()))
	if got := onDisk(t, dir, "what a tool said"); len(got) > 0 {
		t.Errorf("the disk still has %q", got)
	}
}

// failing is an archive on a disk that fails after a number of reads of a manifest.
type failing struct {
	storage.Archive
	left *int
}

func (f failing) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if k.Base() == "manifest.jsonl" {
		if *f.left--; *f.left < 0 {
			return nil, errUnreadable
		}
	}
	return f.Archive.Open(ctx, k, off, n)
}

var errUnreadable = errors.New("the disk fails")

// The manifest on the disk may hold a hold that the operator who erased the session can't know
// of. If it can't be read, the session stays.
func TestErasedSessionStaysIfItsHoldCannotBeRead(t *testing.T) {
	dir, r, left := t.TempDir(), newRemote(), 1<<20
	s := open(t, dir, r, &spool.Options{Passive: true, Over: func(a storage.Archive) storage.Archive { return failing{a, &left} }})
	must(t, step(t.Context(), session(t, s, "alice")))
	must(t, s.Flush(t.Context()))
	must(t, second(session(t, r, "alice").Erase(t.Context(), redact.Text{})))
	left = 1 // it is read for the first line, and then for the hold
	must(t, s.Evict(t.Context()))
	if got := onDisk(t, dir, "what a tool said"); len(got) == 0 {
		t.Error("the session has left the disk, and it may be under a hold")
	}
	if err := s.Flush(t.Context()); !errors.Is(err, spool.ErrConflict) || !strings.Contains(err.Error(), "its hold on this disk can't be read") {
		t.Errorf("flush: %v, want ErrConflict and an error with %q", err, "its hold on this disk can't be read")
	}
}

// A sent session makes room on a full disk even while the remote archive is away: it has
// confirmed the session before. Without need, the session stays until the archive answers.
func TestSentSessionMakesRoomWhileTheRemoteArchiveIsAway(t *testing.T) {
	dir, r := t.TempDir(), newRemote()
	s := open(t, dir, r, &spool.Options{Passive: true, Keep: time.Nanosecond})
	must(t, step(t.Context(), session(t, s, "alice")))
	must(t, s.Flush(t.Context()))
	must(t, step(t.Context(), session(t, s, "bob")))
	r.goAway(true)
	if err := s.Evict(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("evicted without need: %v, want errAway", err)
	}
	must(t, s.MakeRoom(t.Context()))
	r.goAway(false)
	here, err := s.Sessions()
	if err != nil || len(here) != 1 || here[0] != "bob" {
		t.Errorf("on the disk are %q, %v", here, err)
	}
	sound(t, s, "alice", 1)
	must(t, s.Flush(t.Context()))
	sound(t, r, "bob", 1)
}
