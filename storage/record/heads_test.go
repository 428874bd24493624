package record_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/forgery"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func TestForgedHeadsAreFound(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		forgery.Run(t, a, 1, func(s string) redact.Text { return text("%s", s) })
	})
}

// counting counts the writes of an archive.
type counting struct {
	storage.Archive
	mu               sync.Mutex
	creates, appends int
}

func (c *counting) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	c.mu.Lock()
	c.creates++
	c.mu.Unlock()
	return c.Archive.Create(ctx, k, b)
}

func (c *counting) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	c.mu.Lock()
	c.appends++
	c.mu.Unlock()
	return c.Archive.Append(ctx, k, seq, b)
}

func TestHeadsCostOneAppendPerStep(t *testing.T) {
	cost := func(h func(storage.Archive) *record.Heads) [2]int {
		c := &counting{Archive: memory.New()}
		s := session(t, c, "s")
		s.KeepHeads(h(c))
		step(t, s, 1)
		creates, appends := c.creates, c.appends
		step(t, s, 2)
		return [2]int{c.creates - creates, c.appends - appends}
	}
	without := cost(func(storage.Archive) *record.Heads { return nil })
	with := cost(func(a storage.Archive) *record.Heads { return record.NewHeads(a, nil) })
	t.Logf("creates and appends of a step: %v, with heads %v", without, with)
	if with != [2]int{without[0], without[1] + 1} {
		t.Errorf("a step costs %v creates and appends with heads, %v without, want %v", with, without, [2]int{without[0], without[1] + 1})
	}
}

// Sessions of one process don't wait for each other's heads: waiting heads are written
// together.
func TestHeadsOfManySessionsShareARequest(t *testing.T) {
	const sessions = 40
	a := memory.New()
	h := record.NewHeads(a, nil)
	var group sync.WaitGroup
	for i := range sessions {
		group.Go(func() {
			s, err := record.OpenSession(t.Context(), a, fmt.Sprint("s", i))
			report(t, err)
			s.KeepHeads(h)
			report(t, s.Hold(t.Context(), text("case %d", i)))
		})
	}
	group.Wait()
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	if r := book.Report(); !r.OK() || book.Writers() != 1 {
		t.Errorf("%d writers, %q; want 1 and no problems", book.Writers(), r.Problems)
	}
	for i := range sessions {
		r, err := record.Verify(t.Context(), a, fmt.Sprint("s", i), record.VerifyOptions{Heads: book})
		must(t, err)
		if !r.OK() || !r.TailProven || r.Proof != record.ProofHeads {
			t.Errorf("s%d: %q, proven %v by %q; want no problems, true and %q", i, r.Problems, r.TailProven, r.Proof, record.ProofHeads)
		}
	}
}

// If a manifest lost several steps at its end, the last one is reported.
func TestTheLastOfTheLostStepsIsReported(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	s.KeepHeads(record.NewHeads(a, nil))
	step(t, s, 1)
	log := key(t, "s/manifest.jsonl")
	short := content(t, s, "manifest.jsonl")
	for n := range 3 {
		step(t, s, n+2)
	}
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	must(t, a.Remove(t.Context(), log))
	must(t, a.Append(t.Context(), log, 0, storage.Redacted(text("%s", short))))
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Heads: book})
	must(t, err)
	said := fmt.Sprint(r.Problems)
	if !strings.Contains(said, "rolled back") || !strings.Contains(said, "commit of step 4") || strings.Contains(said, "commit of step 2") {
		t.Error(said)
	}
}

// A commit is valid even if the archive refuses its head, or a line of the manifest after
// the commit. A hold that is not proven reports that.
func TestACommitWithoutAHeadIsNotProven(t *testing.T) {
	a := &headless{memory.New()}
	s := session(t, a, "s")
	s.KeepHeads(record.NewHeads(a, nil))
	step(t, s, 1)
	untold := new(record.HeadError)
	if err := s.Hold(t.Context(), text("case")); !errors.As(err, &untold) {
		t.Errorf("Hold: %v", err)
	}
	if h, err := s.Held(t.Context()); !h.Held || err != nil {
		t.Errorf("held %+v, %v", h, err)
	}
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Heads: book})
	must(t, err)
	if !r.OK() || r.TailProven {
		t.Errorf("%q, proven %v; want no problems and false", r.Problems, r.TailProven)
	}
}

// headless is an archive that refuses heads.
type headless struct{ storage.Archive }

func (a *headless) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if k.Dir() == "_heads" {
		return storage.Wrap("append", k, errors.New("no"))
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// deferring counts the lines of heads that are added with and without a check.
type deferring struct {
	*memory.Archive
	looked, unseen int
}

func (a *deferring) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if k.Dir() == "_heads" {
		a.looked++
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *deferring) AppendUnseen(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if k.Dir() == "_heads" {
		a.unseen++
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *deferring) Settle(context.Context, storage.Key) error { return nil }

// Heads are checked once a minute.
func TestHeadsAreCheckedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &deferring{Archive: memory.New()}
		s := session(t, a, "s")
		s.KeepHeads(record.NewHeads(a, nil))
		for n := 1; n <= 30; n++ {
			step(t, s, n)
			time.Sleep(10 * time.Second)
		}
		if a.looked < 4 || a.looked > 6 || a.looked+a.unseen != 30 {
			t.Errorf("%d lines in five minutes with a check, %d without", a.looked, a.unseen)
		}
	})
}
