package compact

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

// onePlace is a manager in which one compaction computes at a time.
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

// What compacts waits for its place as long as its context allows; what compacts
// nothing needs none.
func TestCallsThatCompactNothingStandBehindNoCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := onePlace(t, Config{Archive: memory.New()})
		if err := m.places.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if res, err := m.Preflight(t.Context(), "short", reads(3)); err != nil || res.Triggered || time.Since(began) > 0 {
			t.Errorf("a short one: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if res, err := m.Preflight(ctx, "long", reads(100)); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second || len(res.Messages) != len(reads(100)) {
			t.Errorf("a long one: %v after %v", err, time.Since(began))
		}
		time.AfterFunc(3*time.Second, m.places.Give)
		res, err := m.Preflight(t.Context(), "long", reads(100))
		if err != nil || res.Step != 1 || res.Timing.PlaceWait != 3*time.Second || res.Timing.Stages > time.Second {
			t.Errorf("a long one that waits: step %d, %v, %+v", res.Step, err, res.Timing)
		}
	})
}

// compactAtOnce makes a call that compacts in each of so many sessions at once, which
// have a name and a number.
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

// patientWriter takes a second for a summary, and counts how many are written at
// once.
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

func TestWhoWaitsForAModelHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &patientWriter{}
		c := Config{Archive: memory.New(), Summarise: w}
		compactAtOnce(t, onePlace(t, c), "s", 5)
		if w.most.Load() < 5 {
			t.Errorf("%d summaries at once were written for 5 sessions", w.most.Load())
		}
	})
}

// sleepy is an archive that takes a second for each file.
type sleepy struct{ *memory.Archive }

func (a sleepy) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if !strings.HasPrefix(k.String(), "_") {
		time.Sleep(time.Second)
	}
	return a.Archive.Create(ctx, k, b)
}

func TestWhoWaitsForTheArchiveHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := onePlace(t, Config{Archive: sleepy{memory.New()}})
		began := time.Now()
		compactAtOnce(t, m, "alone", 1)
		one := time.Since(began)
		compactAtOnce(t, m, "many", 20)
		if took := time.Since(began) - one; took != one || one < 2*time.Second {
			t.Errorf("one session took %v, and 20 at once %v", one, took)
		}
	})
}
