package compact

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

// asked is a summarizer that calls a function at each call of Describe. One of these
// calls comes right before a summary begins.
type asked struct{ hook func() }

func (a *asked) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{}, errors.New("no words")
}

func (a *asked) Describe() strategy.Info {
	if a.hook != nil {
		a.hook()
	}
	return strategy.Info{Name: "asked", Window: 128_000, Remote: true}
}

// After its time limit, Close discards the running work while calls still start some.
// Neither must wait for the other.
func TestDiscardingDelaysNoNewSummary(t *testing.T) {
	s := &asked{}
	m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New(), Summarize: s})
	if err != nil {
		t.Fatal(err)
	}
	s.hook = func() {
		thrown := make(chan struct{})
		go func() { defer close(thrown); m.throwUnused() }()
		for range 50 { // until it is done, or waits for this call's lane
			select {
			case <-thrown:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
	called := make(chan error, 1)
	go func() {
		_, err := m.Preflight(context.Background(), "s", reads(100))
		called <- err
	}()
	select {
	case err := <-called:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the call and the end of the manager wait for each other")
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// mine is an archive that panics on demand.
type mine struct {
	storage.Archive
	reads, logs atomic.Bool
}

func (a *mine) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if a.reads.Load() {
		panic("no head")
	}
	return a.Archive.Open(ctx, k, off, n)
}

func (a *mine) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.logs.Load() && strings.HasSuffix(k.String(), "events.jsonl") {
		panic("no arm")
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// A panic in background work must not end the program either.
func TestPanicsInTheBackgroundAreErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &mine{Archive: memory.New()}
		m, _ := logging(t, a, maxWaiting)
		a.reads.Store(true)
		history := reads(1)
		if res, err := m.Preflight(t.Context(), "s", history); !errors.Is(err, ErrInternal) || len(res.Messages) != len(history) {
			t.Fatalf("a session that can't be read: %v", err)
		}
		a.reads.Store(false)
		talk(t, m, "s", 1)
		s := m.sessions["s"]

		a.reads.Store(true)
		time.Sleep(2 * headEvery)
		talk(t, m, "s", 1) // the call reads the steps of others
		synctest.Wait()
		a.reads.Store(false)
		if s.asking {
			t.Error("the session stays marked as asking, so the archive is never asked again")
		}

		a.logs.Store(true)
		m.backlog.flush(s.audit)
		synctest.Wait()
		if s.audit.busy || len(s.audit.lines) == 0 {
			t.Errorf("busy: %v, %d lines wait, want false", s.audit.busy, len(s.audit.lines))
		}
		a.logs.Store(false)
		if err := m.Flush(t.Context()); err != nil || s.audit.hasLines() || s.audit.bytes != 0 {
			t.Errorf("%v, %d bytes wait; want no error and 0", err, s.audit.bytes)
		}
	})
}
