package spool_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
	"github.com/agentcompact/compact/storage/storagetest"
)

func TestSpoolKeepsThePromisesOfAnArchive(t *testing.T) {
	for name, o := range map[string]spool.Options{"in the background": {}, "blind": {Blind: true}, "passive": {Passive: true}} {
		t.Run(name, func(t *testing.T) {
			storagetest.Run(t, func(t testing.TB) (storage.Archive, storage.Archive) {
				dir, remote := t.TempDir(), memory.New()
				return open(t, dir, remote, &o), open(t, dir, remote, &o)
			})
		})
	}
}

// TestTenMinutesWithoutTheRemoteArchiveLoseNothing has 200 compactions, one
// every six seconds; the remote archive is away for ten minutes in the middle.
func TestTenMinutesWithoutTheRemoteArchiveLoseNothing(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newRemote()
		s := open(t, dir, r, &spool.Options{Blind: true})
		log := session(t, s, "long run")
		const steps, every = 200, 6 * time.Second
		started := time.Now()
		for i := range steps {
			r.goAway(i >= 50 && i < 150)
			before := time.Now()
			must(t, step(t.Context(), log))
			if waited := time.Since(before); waited > time.Second {
				t.Errorf("step %d waited %s for the remote archive, want at most %s", i+1, waited, time.Second)
			}
			if i == 149 {
				w, err := s.Waiting()
				must(t, err)
				if w.Operations == 0 || w.Sessions != 1 {
					t.Errorf("nothing waits after ten minutes: %+v", w)
				}
			}
			time.Sleep(every)
		}
		time.Sleep(time.Minute)
		w, err := s.Waiting()
		must(t, err)
		if !w.None() {
			t.Errorf("a minute later %+v still waits", w)
		}
		sound(t, r, "long run", steps)
		same(t, r, s)
		for k, n := range r.created {
			if n > 1 && !strings.HasSuffix(k.String(), ".jsonl") {
				t.Errorf("%s was created %d times", k, n)
			}
		}
		t.Logf("%d steps in %s, %d keys, each once", steps, time.Since(started), len(r.created))
		must(t, s.Close(t.Context()))
	})
}

func TestLostAnswersCauseNoSecondWrite(t *testing.T) {
	for deafAt := 1; deafAt < 8; deafAt++ {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			r := newRemote()
			r.deafAt = deafAt
			s := open(t, dir, r, nil)
			log := session(t, s, "s")
			for range 10 {
				must(t, step(t.Context(), log))
			}
			time.Sleep(time.Hour)
			same(t, r, s)
			sound(t, r, "s", 10)
			must(t, s.Close(t.Context()))
		})
	}
}

func TestWaitingDataIsSentAtTheNextStart(t *testing.T) {
	dir, r := t.TempDir(), newRemote()
	r.goAway(true)
	first := open(t, dir, r, &spool.Options{Blind: true})
	log := session(t, first, "s")
	for range 3 {
		must(t, step(t.Context(), log))
	}
	err := first.Close(t.Context())
	var left *spool.WaitingError
	if !errors.As(err, &left) || !errors.Is(err, spool.ErrWaiting) || !errors.Is(err, errAway) || left.Sessions != 1 || left.Operations < 3*4 {
		t.Fatalf("Close returned %v, want ErrWaiting and errAway", err)
	}
	if err := first.Create(t.Context(), key(t, "s/f"), storage.Blob{}); !errors.Is(err, spool.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
	must(t, first.Close(t.Context()))
	if n := len(keys(t, r.Archive)); n > 0 {
		t.Fatalf("%d keys were sent, want none", n)
	}
	r.goAway(false)
	second := open(t, dir, r, &spool.Options{Passive: true})
	must(t, second.Flush(t.Context()))
	sound(t, r, "s", 3)
	same(t, r, second)
	must(t, second.Close(t.Context()))
}

func TestRemoteArchiveIsAlwaysCrashConsistent(t *testing.T) {
	r := newRemote()
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true})
	log := session(t, s, "s")
	for range 4 {
		must(t, step(t.Context(), log))
	}
	for moments := 0; ; moments++ {
		r.mu.Lock()
		r.writes, r.deafAt = 0, 1 // one more write with a lost answer
		r.mu.Unlock()
		err := s.Flush(t.Context())
		rep, verr := record.Verify(t.Context(), r, "s", record.VerifyOptions{})
		must(t, verr)
		for _, p := range rep.Problems {
			t.Errorf("after %d operations: %s", moments+1, p)
		}
		if err == nil {
			if moments < 4*4 {
				t.Errorf("only %d moments were checked", moments)
			}
			return
		}
	}
}

func TestSessionMovesToAnotherMachineWhenAllWasSent(t *testing.T) {
	r := newRemote()
	one := open(t, t.TempDir(), r, nil)
	log := session(t, one, "s")
	must(t, step(t.Context(), log))
	must(t, step(t.Context(), log))
	must(t, one.Flush(t.Context()))
	two := open(t, t.TempDir(), r, nil)
	moved := session(t, two, "s")
	must(t, step(t.Context(), moved))
	must(t, two.Flush(t.Context()))
	sound(t, r, "s", 3)
	sound(t, two, "s", 3)
	same(t, r, two)
	// The first process does not know of this, and learns it in the background or here.
	if err := step(t.Context(), log); err != nil && !errors.Is(err, spool.ErrConflict) {
		t.Fatal(err)
	}
	if err := one.Flush(t.Context()); !errors.Is(err, spool.ErrConflict) {
		t.Errorf("the first machine: %v, want ErrConflict", err)
	}
	sound(t, r, "s", 3)
}

func TestASecondMachineOnASessionGetsAConflictAndLosesNothing(t *testing.T) {
	r := newRemote()
	r.goAway(true)
	dirs := []string{t.TempDir(), t.TempDir()}
	var spools []*spool.Spool
	for i, dir := range dirs {
		s := open(t, dir, r, &spool.Options{Blind: true, Passive: true})
		log := session(t, s, "s")
		for range i + 1 {
			must(t, step(t.Context(), log))
		}
		spools = append(spools, s)
	}
	r.goAway(false)
	must(t, spools[0].Flush(t.Context()))
	before := holdings(t, r)
	err := spools[1].Flush(t.Context())
	var left *spool.WaitingError
	if !errors.As(err, &left) || len(left.Conflicts) != 1 || !errors.Is(err, spool.ErrConflict) || !strings.Contains(err.Error(), dirs[1]) {
		t.Fatalf("the second machine gets %v, want ErrConflict and an error with %q", err, dirs[1])
	}
	t.Log(err)
	if got := holdings(t, r); len(got) != len(before) {
		t.Errorf("the second machine has sent files: %v", got)
	}
	sound(t, r, "s", 1)
	sound(t, spools[1], "s", 2) // the process's own lines are whole
	if err := step(t.Context(), session(t, spools[1], "s")); !errors.Is(err, spool.ErrConflict) {
		t.Errorf("the next step on the second machine: %v, want ErrConflict", err)
	}
	must(t, step(t.Context(), session(t, spools[1], "another")))
	if err := spools[1].Close(t.Context()); !errors.Is(err, spool.ErrConflict) {
		t.Errorf("Close: %v, want ErrConflict", err)
	}
	sound(t, r, "another", 1)
	whole, err := fs.OpenReadOnly(filepath.Join(dirs[1], "archive"))
	must(t, err)
	sound(t, whole, "s", 2)
	must(t, whole.Close())
}

// Processes of one machine share its folder. What one has sent is no conflict for the others.
func TestProcessesThatShareAFolderSendInTurn(t *testing.T) {
	r, dir := newRemote(), t.TempDir()
	var all []*spool.Spool
	for range 2 {
		all = append(all, open(t, dir, r, &spool.Options{Passive: true}))
	}
	for n := range 4 {
		s := all[n%2]
		must(t, step(t.Context(), session(t, s, "s")))
		if err := s.Flush(t.Context()); err != nil {
			t.Fatalf("step %d: %v", n+1, err)
		}
	}
	sound(t, r, "s", 4)
	same(t, r, all[0])
}

func TestUnknownSessionIsNewOnlyWithBlind(t *testing.T) {
	r := newRemote()
	must(t, step(t.Context(), session(t, r, "s")))
	r.goAway(true)
	seeing, blind := open(t, t.TempDir(), r, nil), open(t, t.TempDir(), r, &spool.Options{Blind: true})
	if _, err := record.OpenSession(t.Context(), seeing, "s"); !errors.Is(err, errAway) {
		t.Errorf("OpenSession: %v, want that the archive is away", err)
	}
	if err := seeing.Create(t.Context(), key(t, "s/f"), storage.Blob{}); !errors.Is(err, errAway) {
		t.Errorf("Create: %v, want that the archive is away", err)
	}
	if n, err := session(t, blind, "s").Head(t.Context()); n != 0 || err != nil {
		t.Errorf("Head: %d, %v; want 0 and no error", n, err)
	}
	r.goAway(false)
	if n, err := session(t, open(t, t.TempDir(), r, &spool.Options{Blind: true}), "s").Head(t.Context()); n != 1 || err != nil {
		t.Errorf("Head after the remote archive is back: %d, %v; want 1 and no error", n, err)
	}
}

func TestFlushAndCloseEndWithTheirContext(t *testing.T) {
	r := newRemote()
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true})
	must(t, step(t.Context(), session(t, s, "s")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Flush(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, spool.ErrWaiting) {
		t.Errorf("Flush: %v, want Canceled and ErrWaiting", err)
	}
	if err := s.Close(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, spool.ErrWaiting) {
		t.Errorf("Close: %v, want Canceled and ErrWaiting", err)
	}
}

// What another process writes while a process sends is not a failure of the latter.
func TestFlushAndCloseSendWhatWaitedWhenTheyBegan(t *testing.T) {
	for name, send := range map[string]func(*spool.Spool) error{
		"Flush": func(s *spool.Spool) error { return s.Flush(t.Context()) },
		"Close": func(s *spool.Spool) error { return s.Close(t.Context()) },
	} {
		r, dir := &busy{remote: newRemote()}, t.TempDir()
		one, other := open(t, dir, r, &spool.Options{Passive: true}), open(t, dir, r, &spool.Options{Passive: true})
		must(t, step(t.Context(), session(t, one, "s")))
		wrote := false
		r.meanwhile = func() { wrote = step(t.Context(), session(t, other, "t")) == nil }
		if err := send(one); err != nil || !wrote {
			t.Errorf("%s: %v; the other process has written: %t", name, err, wrote)
		}
		if w, err := other.Waiting(); err != nil || w.Sessions != 1 {
			t.Errorf("%s: %+v wait, %v", name, w, err)
		}
		must(t, other.Flush(t.Context()))
		if w, err := other.Waiting(); err != nil || !w.None() {
			t.Errorf("%s: %+v wait after the other's Flush, %v", name, w, err)
		}
	}
}

// located is an archive that has a location.
type located struct {
	*memory.Archive
	at string
}

func (l located) Location(k storage.Key) string { return l.at + k.String() }

func TestFolderBelongsToOneArchive(t *testing.T) {
	dir := t.TempDir()
	must(t, open(t, dir, located{memory.New(), "s3://one/"}, nil).Close(t.Context()))
	must(t, open(t, dir, located{memory.New(), "s3://one/"}, nil).Close(t.Context()))
	_, err := spool.Open(dir, located{memory.New(), "s3://two/"}, nil)
	if err == nil || !strings.Contains(err.Error(), "s3://one/") || !strings.Contains(err.Error(), "s3://two/") {
		t.Errorf("got %v, want an error, an error with %q and an error with %q", err, "s3://one/", "s3://two/")
	}
}

// An agent continues a session that is only in the remote archive, while that is
// unreachable.
func TestSessionThatLeftTheDiskIsNotTakenForANewOne(t *testing.T) {
	r := newRemote()
	s := open(t, t.TempDir(), r, &spool.Options{Blind: true, Passive: true, Keep: time.Nanosecond})
	log := session(t, s, "s")
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	must(t, s.Evict(t.Context()))
	r.goAway(true)
	if err := step(t.Context(), log); !errors.Is(err, errAway) {
		t.Errorf("while the remote archive is away: %v, want errAway", err)
	}
	r.goAway(false)
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	sound(t, r, "s", 2)
	same(t, r, s)
}

// A process reads a session that is only in the remote archive, which can't be reached
// from then on. The rest of the session counts as unreachable, not as missing: it would be
// evidence of tampering.
func TestSessionThatLeftTheDiskIsNotTakenForADamagedOne(t *testing.T) {
	for name, whose := range map[string]func(t *testing.T, own, other *spool.Spool) *spool.Spool{
		"its writer": func(_ *testing.T, own, _ *spool.Spool) *spool.Spool { return own },
		"a process that listed it": func(t *testing.T, _, other *spool.Spool) *spool.Spool {
			session(t, other, "s")
			return other
		},
	} {
		r, dir := newRemote(), t.TempDir()
		s := open(t, dir, r, &spool.Options{Blind: true, Passive: true, Keep: time.Nanosecond})
		must(t, step(t.Context(), session(t, s, "s")))
		must(t, s.Flush(t.Context()))
		must(t, s.Evict(t.Context()))
		reader := whose(t, s, open(t, dir, r, &spool.Options{Blind: true, Passive: true}))
		r.goAway(true)
		if _, err := reader.Open(t.Context(), key(t, "s/summary-001.json"), 0, -1); !errors.Is(err, errAway) {
			t.Errorf("%s opens its summary: %v, want that the archive is away", name, err)
		}
		listed := errors.New("nothing")
		for _, listed = range reader.List(t.Context(), key(t, "s")) {
		}
		if !errors.Is(listed, errAway) {
			t.Errorf("%s lists it: %v, want that the archive is away", name, listed)
		}
		if err := reader.Create(t.Context(), key(t, "s/f"), storage.Blob{}); !errors.Is(err, errAway) {
			t.Errorf("%s creates a file: %v, want that the archive is away", name, err)
		}
		if n, err := session(t, reader, "new").Head(t.Context()); n != 0 || err != nil {
			t.Errorf("%s begins another session: %d, %v; want 0 and no error", name, n, err)
		}
	}
}
