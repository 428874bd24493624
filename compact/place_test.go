package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// onePlace returns a manager that computes one compaction at a time.
func onePlace(t *testing.T, c Config) *CompactManager {
	t.Helper()
	c.Model, c.MaxContextTokens = "gpt-4", 8_000
	m, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	m.places = ctxlock.NewSlots(1)
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// A call that compacts waits for its slot as long as its context allows; a call that
// compacts nothing needs no slot.
func TestCallsThatCompactNothingNeedNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := onePlace(t, Config{Archive: memory.New()})
		if err := m.places.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if res, err := m.Preflight(t.Context(), "short", reads(3)); err != nil || res.Triggered || time.Since(began) > 0 {
			t.Errorf("a view that fits: %v after %v, want no error and none", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if res, err := m.Preflight(ctx, "long", reads(100)); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second || len(res.Messages) != len(reads(100)) {
			t.Errorf("a view that does not fit: %v after %v", err, time.Since(began))
		}
		time.AfterFunc(3*time.Second, m.places.Give)
		res, err := m.Preflight(t.Context(), "long", reads(100))
		if err != nil || res.Step != 1 || res.Timing.PlaceWait != 3*time.Second || res.Timing.Stages > time.Second {
			t.Errorf("a view that does not fit, with a free slot later: step %d, %v, %+v", res.Step, err, res.Timing)
		}
	})
}

// between returns a history that is above the trigger and within the budget of such a
// manager.
func between(t *testing.T, c Config) []message.Message {
	t.Helper()
	m, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	for n := 10; ; n++ {
		p, err := m.Plan(t.Context(), "s", reads(n))
		if err != nil {
			t.Fatal(err)
		}
		if p.TokensIn >= p.Trigger {
			if p.TokensIn > p.Budget {
				t.Fatalf("%d tokens of %d", p.TokensIn, p.Budget)
			}
			return reads(n)
		}
	}
}

// Near its deadline a call whose view fits is sent unchanged if there is no free slot,
// and the next call compacts. A call whose view does not fit, or a requested
// compaction, waits to the end.
func TestCallThatFitsDoesNotFailForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{Model: "gpt-4", MaxContextTokens: 64_000, Archive: memory.New()}
		fits := between(t, c)
		m, err := New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close(context.Background()) })
		m.places = ctxlock.NewSlots(1)
		if err := m.places.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		began := time.Now()
		res, err := m.Preflight(ctx, "fits", fits)
		if err != nil || ctx.Err() != nil || res.Triggered || res.Reason != trace.ReasonBusy || len(res.Messages) != len(fits) || len(res.Warnings) != 1 {
			t.Errorf("after %v: %v, %s, %q; want no error and %s", time.Since(began), err, res.Reason, res.Warnings, trace.ReasonBusy)
		}
		if waited := time.Since(began); waited < 5*time.Second || waited >= 20*time.Second {
			t.Errorf("the call waited for %v of 20s", waited)
		}
		large := slices.Concat(fits, reads(200)[1:])
		for name, call := range map[string]func(context.Context) (*Result, error){
			"too large": func(ctx context.Context) (*Result, error) { return m.Preflight(ctx, "large", large) },
			"asked for": func(ctx context.Context) (*Result, error) { return m.ManualCompact(ctx, "asked", fits, "") },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			began := time.Now()
			if _, err := call(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 20*time.Second {
				t.Errorf("%s: %v after %v, want DeadlineExceeded", name, err, time.Since(began))
			}
			cancel()
		}
		m.places.Give()
		if res, err := m.Preflight(t.Context(), "fits", fits); err != nil || res.Step != 1 {
			t.Errorf("the next call: step %d, %s, %v; want 1 and no error", res.Step, res.Reason, err)
		}
	})
}

// compactAtOnce makes a compacting call in each of a given number of sessions at once;
// their names are numbered.
func compactAtOnce(t *testing.T, m *CompactManager, name string, sessions int) {
	t.Helper()
	done := make(chan error)
	for i := range sessions {
		go func() {
			res, err := m.Preflight(context.Background(), fmt.Sprint(name, i), reads(100))
			if err == nil && res.Step != 1 {
				err = fmt.Errorf("step %d", res.Step)
			}
			done <- err
		}()
	}
	for range sessions {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// patientWriter takes a second for a summary, and counts concurrent summaries.
type patientWriter struct{ now, most atomic.Int64 }

func (p *patientWriter) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	n := p.now.Add(1)
	defer p.now.Add(-1)
	for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	return strategy.Draft{}, errors.New("no words")
}

func (p *patientWriter) Describe() strategy.Info {
	return strategy.Info{Name: "patient", Window: 128_000, Remote: true}
}

func TestWaitForAModelHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &patientWriter{}
		c := Config{Archive: memory.New(), Summarize: w}
		compactAtOnce(t, onePlace(t, c), "s", 5)
		if w.most.Load() < 5 {
			t.Errorf("%d summaries at once were written for 5 sessions, want at least 5", w.most.Load())
		}
	})
}

// slowFiles is an archive that takes a second for each file.
type slowFiles struct{ *memory.Archive }

func (a slowFiles) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if !strings.HasPrefix(k.String(), "_") {
		time.Sleep(time.Second)
	}
	return a.Archive.Create(ctx, k, b)
}

func TestWaitForTheArchiveHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := onePlace(t, Config{Archive: slowFiles{memory.New()}})
		began := time.Now()
		compactAtOnce(t, m, "alone", 1)
		one := time.Since(began)
		compactAtOnce(t, m, "many", 20)
		if took := time.Since(began) - one; took != one || one < 2*time.Second {
			t.Errorf("one session took %v, and 20 at once %v", one, took)
		}
	})
}

// crowded is an archive that has all slots taken for a minute after a transcript,
// as other compactions would take them.
type crowded struct {
	*memory.Archive
	m **CompactManager
}

func (a crowded) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if strings.Contains(k.String(), "transcript-pre-compact") {
		if err := (*a.m).places.Take(ctx); err != nil {
			return err
		}
		time.AfterFunc(time.Minute, (*a.m).places.Give)
	}
	return a.Archive.Create(ctx, k, b)
}

func TestHolderOfTheCommitLockWaitsForNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m *CompactManager
		m = onePlace(t, Config{Archive: crowded{memory.New(), &m}})
		began := time.Now()
		res, err := m.Preflight(t.Context(), "s", reads(100))
		if err != nil || res.Step != 1 || time.Since(began) > 0 {
			t.Errorf("step %d, %v, after %v; want 1, no error and none", res.Step, err, time.Since(began))
		}
		time.Sleep(2 * time.Minute) // the places are free again
	})
}

// With presets that work on every call, one call in 32 is a step. It archives and
// indexes, and needs no slot either.
func TestEveryCallStepsWaitForNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := New(t.Context(), Config{Preset: "masking", Model: "gpt-4", MaxContextTokens: 1_000_000, Archive: memory.New()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close(context.Background()) }()
		m.places = ctxlock.NewSlots(1)
		if err := m.places.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began, steps := time.Now(), 0
		for n := range 80 {
			res, err := m.Preflight(ctx, "s", reads(n+1))
			if err != nil {
				t.Fatalf("call %d, after %v: %v", n, time.Since(began), err)
			}
			steps = max(steps, res.Step)
		}
		if steps == 0 || time.Since(began) > 0 {
			t.Errorf("%d steps after %v, want none", steps, time.Since(began))
		}
	})
}

// panickingWriter panics when a summary is requested.
type panickingWriter struct{ remote bool }

func (panickingWriter) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	panic("no words")
}
func (b panickingWriter) Describe() strategy.Info {
	return strategy.Info{Name: "breathless", Window: 128_000, Remote: b.remote}
}

// panickingRequest is a request that panics in Describe, outside any stage, when it is switched
// on.
type panickingRequest struct {
	panickingWriter
	on atomic.Bool
}

func (g *panickingRequest) Describe() strategy.Info {
	if g.on.Load() {
		panic("who am I")
	}
	return strategy.Info{Name: "giddy"}
}

// panicsAt is an archive that panics at some files.
type panicsAt struct {
	*memory.Archive
	file string
}

func (a panicsAt) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if strings.Contains(k.String(), a.file) {
		panic("no disk")
	}
	return a.Archive.Create(ctx, k, b)
}

// A call releases its slot however it ends: with a panic, with a deadline in the queue, or with
// an error.
func TestSlotsAreReleasedHoweverACallEnds(t *testing.T) {
	g := &panickingRequest{}
	for name, c := range map[string]Config{
		"a description that panics":            {Archive: memory.New(), Summarize: g},
		"a summarizer that panics":             {Archive: memory.New(), Summarize: panickingWriter{}},
		"a model that panics":                  {Archive: memory.New(), Summarize: panickingWriter{remote: true}},
		"an archive that panics at transcript": {Archive: panicsAt{memory.New(), "transcript"}},
		"an archive that panics at index":      {Archive: panicsAt{memory.New(), ".idx"}},
		"an archive that panics at ledger":     {Archive: panicsAt{memory.New(), "ledger"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := onePlace(t, c)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				g.on.Store(true)
				_, _ = m.Preflight(ctx, "s", reads(100))
				_, _ = m.ManualCompact(ctx, "t", reads(100), "")
				g.on.Store(false)
				synctest.Wait()
				if !m.places.TryTake() {
					t.Fatal("the slot is still taken")
				}
				late, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := m.Preflight(late, "u", reads(100)); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a call in the queue ended with %v, want DeadlineExceeded", err)
				}
				m.places.Give()
				if !m.places.TryTake() {
					t.Error("a call that gave up in the queue holds a slot")
				}
				m.places.Give()
			})
		})
	}
}
