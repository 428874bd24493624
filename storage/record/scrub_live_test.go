package record_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// writer is an agent that appends to a session, and opens it again after ErrScrubbed.
func writer(ctx context.Context, a storage.Archive, name string, rounds int) error {
	s, err := record.OpenSession(ctx, a, "s")
	for i := 0; i < rounds && err == nil; i++ {
		line := []redact.Text{text(`{"by":%q,"n":%d}`, name, i)}
		if err = errors.Join(s.Events(ctx, line), s.Journal(ctx, line)); err != nil {
			break
		}
		for range 10 {
			_, err = s.Summary(ctx, 100+i, text(`{"by":%q}`, name))
			err = errors.Join(err, s.Checkpoint(ctx))
			if !errors.Is(err, record.ErrScrubbed) {
				break
			}
			s, err = record.OpenSession(ctx, a, "s")
		}
	}
	return err
}

// Two agents write all the time while the session is scrubbed many times.
func TestAScrubLosesNoConcurrentWrites(t *testing.T) {
	const rounds = 12
	a := memory.New()
	leaky(t, a)
	var agents sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		agents.Go(func() { report(t, writer(t.Context(), a, name, rounds)) })
	}
	done := make(chan struct{})
	go func() { agents.Wait(); close(done) }()
	scrubs := 0
	for working := true; working; {
		select {
		case <-done:
			working = false
		default:
		}
		s, err := record.OpenSession(t.Context(), a, "s")
		must(t, err)
		// The words alternate, so that each scrub finds one.
		word := []string{leaked, "hello", "three", "role"}[scrubs%4]
		switch _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(word)}); {
		case err == nil:
			scrubs++
		case !errors.Is(err, record.ErrInUse) && !errors.Is(err, record.ErrScrub):
			t.Fatal(err)
		case errors.Is(err, record.ErrScrub):
			scrubs++
		}
	}
	for _, log := range []string{"events.jsonl", "journal.jsonl"} {
		have := content(t, session(t, a, "s"), log)
		for _, name := range []string{"one", "two"} {
			for i := range rounds {
				if line := fmt.Sprintf(`"by":%q,"n":%d}`, name, i); strings.Count(have, line) != 1 {
					t.Errorf("%s has %q %d times, want 1", log, line, strings.Count(have, line))
				}
			}
		}
	}
	wantOK(t, a, "s")
}

// inTheWay is an archive in which a piece that is being withdrawn blocks the first line
// of a log.
type inTheWay struct {
	*memory.Archive
	times int
}

func (a *inTheWay) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.times > 0 && seq == 0 && k.Base() == "events.jsonl" {
		a.times--
		return &storage.Error{Op: "append", Key: k, Err: storage.ErrDamaged}
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// vanishing is an archive in which a piece disappears between listing and reading it.
type vanishing struct {
	*memory.Archive
	times int
}

func (a *vanishing) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.times > 0 && k.Base() == "journal.jsonl" {
		a.times--
		return &storage.Error{Op: "read", Key: k, Err: storage.ErrNotExist}
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func TestAnAppendToARemovedLogLooksForAScrub(t *testing.T) {
	a := &vanishing{Archive: memory.New()}
	s := leaky(t, a)
	a.times = 1
	must(t, s.Journal(t.Context(), []redact.Text{redact.Lit(`{"late":1}`)}))
	if a.times > 0 || strings.Count(content(t, s, "journal.jsonl"), `"late":1`) != 1 {
		t.Error("the line is missing, or nothing was removed")
	}
}

func TestScrubContinuesAfterAConflictingPiece(t *testing.T) {
	a := &inTheWay{Archive: memory.New()}
	s := leaky(t, a)
	a.times = 3
	must(t, second(s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)})))
	if a.times > 0 {
		t.Error("nothing was in the way")
	}
	if strings.Contains(wholeText(t, a), leaked) {
		t.Error("it still exists")
	}
	proven(t, a)
}

// betweenTimes is an archive in which another process acts right after a scrub has
// stored its first file, before the manifest records the scrub.
type betweenTimes struct {
	*memory.Archive
	do func()
}

func (a *betweenTimes) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	err := a.Archive.Create(ctx, k, b)
	if do := a.do; do != nil && strings.HasPrefix(k.Base(), "scrub.") {
		a.do = nil
		do()
	}
	return err
}

func TestScrubIsRecordedOnlyIfItsFencesAreLast(t *testing.T) {
	a := &betweenTimes{Archive: memory.New()}
	s := leaky(t, a)
	agent := session(t, a, "s")
	late := false
	a.do = func() {
		late = true
		must(t, agent.Journal(t.Context(), []redact.Text{redact.Lit(`{"late":1}`)}))
		must(t, agent.Events(t.Context(), []redact.Text{redact.Lit(`{"late":1}`)}))
	}
	must(t, second(s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)})))
	if !late {
		t.Fatal("the piece was not in the way")
	}
	for _, log := range []string{"journal.jsonl", "events.jsonl"} {
		if n := strings.Count(content(t, session(t, a, "s"), log), `"late":1`); n != 1 {
			t.Errorf("%s has the line %d times, want 1", log, n)
		}
	}
	if strings.Contains(wholeText(t, a), leaked) {
		t.Error("it still exists")
	}
	proven(t, a)
}

// stuck is an archive that removes no more files after a scrub is recorded.
type stuck struct {
	*memory.Archive
	dead bool
}

func (a *stuck) Remove(ctx context.Context, k storage.Key) error {
	if a.dead {
		return errDead
	}
	return a.Archive.Remove(ctx, k)
}

// A process that only writes files completes an interrupted scrub, like a process that
// appends to a log.
func TestAWriterOfAFileEndsAnInterruptedScrub(t *testing.T) {
	a := &stuck{Archive: memory.New()}
	s := leaky(t, a)
	a.dead = true
	if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: 1}); !errors.Is(err, errDead) {
		t.Fatal(err)
	}
	a.dead = false
	if !strings.Contains(wholeText(t, a), leaked) {
		t.Fatal("the scrub was not cut short")
	}
	agent := session(t, a, "s")
	must(t, second(agent.Summary(t.Context(), 90, redact.Lit(`{"late":1}`))))
	if strings.Contains(wholeText(t, a), leaked) {
		t.Error("it still exists")
	}
	proven(t, a)
}
