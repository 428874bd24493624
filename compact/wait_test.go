package compact_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/crew"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
)

// hanging is an archive that hangs on request: it then answers no call about keys that
// contain a word.
type hanging struct {
	*memory.Archive
	reads, writes string
	on            atomic.Bool
	asked, now    atomic.Int64 // calls that hung, and that hang
	most          atomic.Int64 // concurrent ones
}

func (h *hanging) hang(ctx context.Context, k storage.Key, word string) error {
	if !h.on.Load() || word == "" || !strings.Contains(k.String(), word) {
		return nil
	}
	h.asked.Add(1)
	h.most.Store(max(h.most.Load(), h.now.Add(1)))
	defer h.now.Add(-1)
	<-ctx.Done()
	return ctx.Err()
}

func (h *hanging) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if err := h.hang(ctx, k, h.reads); err != nil {
		return nil, err
	}
	return h.Archive.Open(ctx, k, off, n)
}

func (h *hanging) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if err := h.hang(ctx, k, h.writes); err != nil {
		return err
	}
	return h.Archive.Create(ctx, k, b)
}

func (h *hanging) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := h.hang(ctx, k, h.writes); err != nil {
		return err
	}
	return h.Archive.Append(ctx, k, seq, b)
}

// late returns a context that ends after a while of the fake clock.
func late(t *testing.T, after time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), after)
	t.Cleanup(cancel)
	return ctx
}

// endsAt fails unless a call ends at the given time with its context's error.
func endsAt(t *testing.T, what string, after time.Duration, call func(context.Context) error) {
	t.Helper()
	began := time.Now()
	err := call(late(t, after))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s: %v, want the deadline's error", what, err)
	}
	if waited := time.Since(began); waited != after {
		t.Errorf("%s waited %v, its context %v", what, waited, after)
	}
}

func preflightOf(m *compact.CompactManager, history []message.Message, opts ...compact.Option) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := m.Preflight(ctx, "s", history, opts...)
		return err
	}
}

func TestWaitForALaneEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := crew.Manager(t, memory.New(), &crew.Summarizer{After: 5 * time.Second})
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := m.Preflight(t.Context(), "s", loop(100, 200)); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		endsAt(t, "a call of the same agent", 200*time.Millisecond, preflightOf(m, loop(2, 10)))
		if _, err := m.Preflight(late(t, time.Millisecond), "s", loop(2, 10), asAgent("another")); err != nil {
			t.Errorf("a call of another agent: %v", err)
		}
		wg.Wait()
	})
}

func TestWaitForACommitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &hanging{Archive: memory.New(), writes: "ledger-"}
		m := crew.Manager(t, a, nil)
		a.on.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = m.Preflight(ctx, "s", loop(100, 200), asAgent("one")) })
		synctest.Wait()
		endsAt(t, "another agent's commit", time.Second, preflightOf(m, loop(100, 200), asAgent("two")))
		cancel()
		wg.Wait()
	})
}

func TestWaitForTheAuditLogEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &hanging{Archive: memory.New(), writes: "events.jsonl"}
		m := crew.Manager(t, a, nil)
		if err := preflightOf(m, loop(2, 10))(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.on.Store(true)
		archive := func(ctx context.Context) error { return m.Archive(ctx, "s", loop(2, 10)) }
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = archive(ctx) })
		synctest.Wait()
		endsAt(t, "another writer of the audit log", 200*time.Millisecond, archive)
		if n := a.asked.Load(); n != 1 {
			t.Errorf("%d writers at once, want 1", n)
		}
		cancel()
		wg.Wait()
		a.on.Store(false)
	})
}

func TestOpeningIsSharedAndCanBeCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &hanging{Archive: memory.New(), reads: "s/manifest"}
		m := crew.Manager(t, a, nil)
		a.on.Store(true)
		var wg sync.WaitGroup
		for _, wait := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second} {
			wg.Go(func() { endsAt(t, "a call", wait, preflightOf(m, loop(2, 10))) })
			wg.Go(func() {
				endsAt(t, "Archive", wait, func(ctx context.Context) error { return m.Archive(ctx, "s", loop(2, 10)) })
			})
			wg.Go(func() {
				endsAt(t, "Recall", wait, func(ctx context.Context) error { _, err := m.Recall(ctx, "s", "0123456789ab"); return err })
			})
		}
		wg.Wait()
		synctest.Wait()
		if n, left := a.asked.Load(), a.now.Load(); n != 1 || left != 0 {
			t.Errorf("the archive was asked %d times, want once; %d goroutines still wait without a caller", n, left)
		}
		a.on.Store(false)
		if _, err := m.Preflight(t.Context(), "s", loop(2, 10)); err != nil {
			t.Errorf("when the archive answers again: %v", err)
		}
	})
}

// stubbornArchive is an archive whose first read of a manifest ends only when it is released, also if
// it is canceled.
type stubbornArchive struct {
	*memory.Archive
	began   atomic.Bool
	release chan struct{}
}

func (s *stubbornArchive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if strings.Contains(k.String(), "s/manifest") && s.began.CompareAndSwap(false, true) {
		<-s.release
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.Archive.Open(ctx, k, off, n)
}

// A call that comes while a canceled read has not ended yet begins its own read.
func TestCanceledOpeningServesNoLaterCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &stubbornArchive{Archive: memory.New(), release: make(chan struct{})}
		m := crew.Manager(t, a, nil)
		endsAt(t, "the first call", time.Second, preflightOf(m, loop(2, 10)))
		second := make(chan error, 1)
		go func() {
			_, err := m.Preflight(t.Context(), "s", loop(2, 10))
			second <- err
		}()
		time.Sleep(time.Second)
		close(a.release)
		if err := <-second; err != nil {
			t.Errorf("the second call: %v", err)
		}
	})
}

var slowLoads atomic.Bool // the slow vocabulary is registered

// A vocabulary that takes long to load delays only the calls of its own model,
// each at most until its deadline.
func TestVocabularyIsLoadedBesideOtherModels(t *testing.T) {
	if !slowLoads.CompareAndSwap(false, true) {
		t.Skip("a vocabulary is loaded once a process")
	}
	go50k := make(chan struct{})
	opened := atomic.Int64{}
	token.Register("p50k_base", func() (token.Counter, error) {
		opened.Add(1)
		<-go50k
		return token.ForEncoding(token.CL100K)
	})
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	// No deadline is set, because on a busy machine it could pass before any call has made its
	// request.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := m.Preflight(ctx, "s", loop(2, 10), compact.WithModel("text-davinci-003")); !errors.Is(err, context.Canceled) {
				t.Errorf("a call of the model: %v, want the context's error", err)
			}
		})
	}
	for opened.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for _, model := range []string{"gpt-4", "gpt-4o"} { // the lock would never be free again
		if _, err := m.Preflight(t.Context(), "s", loop(2, 10), compact.WithModel(model)); err != nil {
			t.Errorf("a call of %s: %v", model, err)
		}
	}
	cancel()
	wg.Wait()
	close(go50k)
	if res, err := m.Preflight(t.Context(), "s", loop(2, 10), compact.WithModel("text-davinci-003")); err != nil || opened.Load() != 1 {
		t.Errorf("after the vocabulary was opened: %v; the vocabulary was opened %d times for %s, want no error and 1", err, opened.Load(), res.CountingUnit)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

var failedLoads atomic.Bool

// A vocabulary that could not be opened is opened again at the next call.
func TestVocabularyThatFailedIsOpenedAgain(t *testing.T) {
	if !failedLoads.CompareAndSwap(false, true) {
		t.Skip("a vocabulary is registered once a process")
	}
	opened := 0
	token.Register("r50k_base", func() (token.Counter, error) {
		if opened++; opened == 1 {
			return nil, errors.New("no such file")
		}
		return token.ForEncoding(token.CL100K)
	})
	r := newRig(t, compact.Config{Model: "gpt-4"})
	for n, want := range []bool{false, true, true} {
		if _, err := r.Preflight(t.Context(), "s", loop(2, 10), compact.WithModel("text-davinci-001")); (err == nil) != want {
			t.Errorf("call %d: %v", n, err)
		}
	}
}

// A call that compacts nothing makes no request: others' steps are read in the
// background, by one goroutine at a time, with a time limit.
func TestCheckForOtherStepsDelaysNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &hanging{Archive: memory.New(), reads: "s/ledger-"}
		m := crew.Manager(t, a, nil)
		if _, err := m.Preflight(t.Context(), "s", loop(2, 10)); err != nil {
			t.Fatal(err)
		}
		a.on.Store(true)
		for range 100 {
			time.Sleep(time.Second)
			began := time.Now()
			if _, err := m.Preflight(t.Context(), "s", loop(2, 10)); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited > 0 {
				t.Fatalf("a call that compacts nothing waited %v", waited)
			}
		}
		if n, most := a.asked.Load(), a.most.Load(); n < 5 || n > 34 || most != 1 {
			t.Errorf("in 100 seconds the archive was asked %d times, %d at once; want at least 5, at most 34 and 1", n, most)
		}
		endsAt(t, "a call that compacts", 5*time.Second, preflightOf(m, loop(100, 200)))
		_, _ = m.Preflight(t.Context(), "s", loop(2, 10))
		began := time.Now()
		if err := m.Close(late(t, time.Minute)); err != nil || time.Since(began) > 0 {
			t.Errorf("Close: %v after %v, want no error and none", err, time.Since(began))
		}
		synctest.Wait()
		if left := a.now.Load(); left != 0 {
			t.Errorf("%d goroutines still read after Close, want 0", left)
		}
	})
}

// Close waits for running calls until its time limit.
func TestCloseWaitsForCallsThatAreUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &hanging{Archive: memory.New(), writes: "ledger-"}
		m := crew.Manager(t, a, nil)
		a.on.Store(true)
		var wg sync.WaitGroup
		wg.Go(func() { endsAt(t, "the call", time.Minute, preflightOf(m, loop(100, 200))) })
		synctest.Wait()
		endsAt(t, "Close", time.Second, m.Close)
		if _, err := m.Preflight(t.Context(), "s", loop(2, 10)); err != compact.ErrClosed {
			t.Errorf("a call after Close: %v, want %v", err, compact.ErrClosed)
		}
		wg.Wait()
	})
}
