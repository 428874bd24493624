package spool_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

var errRefused = errors.New("the bucket keeps the existing object")

// refuse makes the remote archive refuse the files of some sessions.
func (r *remote) refuse(is func(session string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = is
}

// crowd writes a step to each of a given number of sessions.
func crowd(t *testing.T, s *spool.Spool, sessions int) {
	t.Helper()
	for i := range sessions {
		must(t, step(t.Context(), session(t, s, fmt.Sprintf("session-%02d", i))))
	}
}

// arrived counts the sessions that the remote archive has whole.
func arrived(t *testing.T, r *remote, sessions int) (n int) {
	t.Helper()
	for i := range sessions {
		rep, err := record.Verify(t.Context(), r.Archive, fmt.Sprintf("session-%02d", i), record.VerifyOptions{})
		if errors.Is(err, storage.ErrNotExist) {
			continue
		}
		must(t, err)
		if rep.Steps == 1 && len(rep.Problems) == 0 {
			n++
		}
	}
	return n
}

// If the remote archive refuses a session, for example because of an Object Lock, only
// that session waits. This holds for any number of such sessions.
func TestRefusedSessionsDelayNoOthers(t *testing.T) {
	for _, refused := range []int{1, 4, 9} {
		dir := t.TempDir()
		t.Run(fmt.Sprint(refused), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testRefused(t, dir, refused) })
		})
	}
}

func testRefused(t *testing.T, dir string, refused int) {
	const sessions = 20
	r := newRemote()
	r.refuse(func(session string) bool { return session < fmt.Sprintf("session-%02d", refused) })
	s := open(t, dir, r, &spool.Options{Blind: true})
	crowd(t, s, sessions)
	time.Sleep(5 * time.Second)
	if n := arrived(t, r, sessions); n != sessions-refused {
		t.Errorf("%d sessions arrived, want %d", n, sessions-refused)
	}
	r.mu.Lock()
	r.refusals = 0
	r.mu.Unlock()
	time.Sleep(5 * time.Minute)
	r.mu.Lock()
	if per := r.refusals / refused; per < 8 || per > 30 {
		t.Errorf("each session was tried %d times in five minutes, want at least 8 and at most 30", per)
	}
	r.mu.Unlock()
	w, err := s.Waiting()
	must(t, err)
	if w.Sessions != refused {
		t.Errorf("%d sessions wait, want %d", w.Sessions, refused)
	}
	must(t, step(t.Context(), session(t, s, "the late one")))
	time.Sleep(time.Second)
	sound(t, r.Archive, "the late one", 1)
	r.refuse(nil)
	time.Sleep(time.Minute)
	if n := arrived(t, r, sessions); n != sessions {
		t.Errorf("%d sessions arrived in the end, want %d", n, sessions)
	}
	must(t, s.Close(t.Context()))
}

// The next process does not know which sessions were refused, and still sends the
// others.
func TestFlushSendsTheOtherSessionsAfterARefusal(t *testing.T) {
	const sessions, refused = 20, 9
	r := newRemote()
	r.refuse(func(session string) bool { return session < fmt.Sprintf("session-%02d", refused) })
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true, Blind: true})
	crowd(t, s, sessions)
	err := s.Flush(t.Context())
	var left *spool.WaitingError
	if !errors.As(err, &left) || !errors.Is(err, errRefused) || left.Sessions != refused {
		t.Errorf("Flush returned %v, want errRefused", err)
	}
	if n := arrived(t, r, sessions); n != sessions-refused {
		t.Errorf("%d sessions arrived, want %d", n, sessions-refused)
	}
}

// Flush does not try an unreachable archive once for each session.
func TestFlushEndsSoonForAnUnreachableArchive(t *testing.T) {
	const sessions = 40
	r := newRemote()
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true, Blind: true})
	crowd(t, s, sessions)
	r.goAway(true)
	r.mu.Lock()
	r.asked = 0
	r.mu.Unlock()
	if err := s.Flush(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("Flush returned %v, want errAway", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == 0 || r.asked > 12 {
		t.Errorf("the archive was asked %d times", r.asked)
	}
}

// A refused session does not count as an unreachable archive.
func TestRefusalDoesNotCountAsUnreachable(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newRemote()
		first := open(t, t.TempDir(), r, nil)
		must(t, step(t.Context(), session(t, first, "there")))
		must(t, first.Close(t.Context()))
		r.refuse(func(session string) bool { return strings.HasPrefix(session, "refused") })
		s := open(t, dir, r, &spool.Options{Blind: true})
		must(t, step(t.Context(), session(t, s, "refused")))
		time.Sleep(2 * time.Second)
		head, err := session(t, s, "there").Head(t.Context())
		must(t, err)
		if head != 1 {
			t.Errorf("the session was mistaken for a new one: step %d, want 1", head)
		}
		_ = s.Close(t.Context()) // one is refused
	})
}
