package compact_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/strategy"
)

// randomSummarizer is a summarizer that is slow or fails at random.
type randomSummarizer struct{}

func (randomSummarizer) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	select {
	case <-time.After(rand.N(20 * time.Millisecond)):
	case <-ctx.Done():
		return strategy.Draft{}, ctx.Err()
	}
	if rand.N(10) == 0 {
		return strategy.Draft{}, errors.New("no such model")
	}
	return strategy.Draft{Text: "## Goals and success criteria\n- [open] the tests of the module pass\n"}, nil
}

// rush is a load of many goroutines on a few sessions of one archive, with callers that
// cancel at random, through managers that are closed in the meantime.
type rush struct {
	t                    *testing.T
	dir                  string
	goroutines, sessions int
	calls                int       // of each goroutine
	until                time.Time // unless zero, the rush runs until this time and not for a number of calls
	closeEvery           int64     // number of calls of all goroutines after which the manager is closed
	histories            [][]message.Message

	mu   sync.RWMutex
	m    *compact.CompactManager
	done atomic.Int64
	past atomic.Int64 // managers that were closed during their calls
	ends map[string]*atomic.Int64
}

// next closes the manager during running calls, and makes another one.
func (r *rush) next() {
	m, err := compact.New(context.Background(), compact.Config{
		Model: "gpt-4", MaxContextTokens: 8_000, Summarize: randomSummarizer{}, Storage: compact.StorageConfig{Adapter: "fs", Path: r.dir},
	})
	if err != nil {
		r.t.Error(err)
		return
	}
	r.mu.Lock()
	old := r.m
	r.m = m
	r.mu.Unlock()
	if old == nil {
		return
	}
	if err := old.Close(context.Background()); err != nil {
		r.t.Errorf("Close: %v", err)
	}
	r.past.Add(1)
}

// impatient returns a context that ends at random, with or without a deadline.
func impatient() (context.Context, context.CancelFunc) {
	switch rand.N(4) {
	case 0:
		return context.WithTimeout(context.Background(), rand.N(30*time.Millisecond))
	case 1:
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(rand.N(30*time.Millisecond), cancel)
		return ctx, cancel
	}
	return context.WithCancel(context.Background())
}

// call does something for an agent of some session.
func (r *rush) call() {
	r.mu.RLock()
	m := r.m
	r.mu.RUnlock()
	session, agent := fmt.Sprint("session-", rand.N(r.sessions)), rand.N(len(r.histories))
	all := r.histories[agent]
	history := all[:2+2*rand.N(len(all)/2-1)]
	who := compact.WithAgent(fmt.Sprint(agent))
	ctx, cancel := impatient()
	defer cancel()
	var res *compact.Result
	var err error
	switch rand.N(20) {
	case 0:
		res, err = m.ManualCompact(ctx, session, history, "now and then", who)
	case 1:
		res, err = m.Plan(ctx, session, history, who)
	case 2:
		err = m.Archive(ctx, session, history)
	case 3:
		_, err = m.Recall(ctx, session, history[len(history)-1].Fingerprint().Ref())
	case 4:
		err = m.Flush(ctx)
	default:
		res, err = m.Preflight(ctx, session, history, who)
	}
	r.judge(ctx, res, err)
}

// judge counts the outcome of a call, and fails the test if the call may not have this
// outcome.
func (r *rush) judge(ctx context.Context, res *compact.Result, err error) {
	end := "done"
	switch {
	case err == nil && res != nil && res.After.Total > res.Budget:
		r.t.Errorf("the view has %d tokens, but only %d fit", res.After.Total, res.Budget)
	case err == nil:
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		end = "context"
	case errors.Is(err, compact.ErrNotFound):
		end = "not found"
	case errors.Is(err, compact.ErrClosed):
		end = "closed"
	default:
		r.t.Errorf("%v (the context: %v)", err, ctx.Err())
	}
	r.ends[end].Add(1)
	if r.done.Add(1)%r.closeEvery == 0 {
		r.next()
	}
}

func (r *rush) run() {
	r.ends = map[string]*atomic.Int64{"done": {}, "context": {}, "not found": {}, "closed": {}}
	for a := range 4 {
		history := loop(70, 200)
		history[1] = message.User(fmt.Sprintf("Make all tests of module_%d pass.", a))
		r.histories = append(r.histories, history)
	}
	r.next()
	var wg sync.WaitGroup
	for range r.goroutines {
		wg.Go(func() {
			for n := 0; !r.t.Failed() && (n < r.calls || time.Now().Before(r.until)); n++ {
				r.call()
			}
		})
	}
	wg.Wait()
	if err := r.m.Close(context.Background()); err != nil {
		r.t.Errorf("Close: %v", err)
	}
}

// verify verifies all sessions against their manifests and ledgers.
func (r *rush) verify() (steps int) {
	a := mustOpen(r.t, r.dir)
	defer func() { _ = a.Close() }()
	for s, err := range record.Sessions(context.Background(), a) {
		if err != nil {
			r.t.Fatal(err)
		}
		report, err := record.Verify(context.Background(), a, s.ID, record.VerifyOptions{Refs: recall.Refs})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, p := range report.Problems {
			r.t.Errorf("verify %s: %s", s.ID, p)
		}
		steps += report.Steps
	}
	return steps
}

// Each goroutine makes a few calls. With COMPACT_SOAK=1 they make calls for three
// minutes.
func TestSoakOfCallsAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	r := &rush{t: t, dir: filepath.Join(t.TempDir(), "archive"), goroutines: 64, sessions: 50, calls: 3, closeEvery: 64}
	if soak() {
		r.until, r.closeEvery = time.Now().Add(3*time.Minute), 300
	}
	r.run()
	steps := r.verify()
	t.Logf("%d calls, %d steps, %d managers closed in the middle; done %d, context %d, closed %d, not found %d", r.done.Load(), steps, r.past.Load(),
		r.ends["done"].Load(), r.ends["context"].Load(), r.ends["closed"].Load(), r.ends["not found"].Load())
	if steps == 0 || r.past.Load() == 0 || r.ends["context"].Load() == 0 {
		t.Error("no step, no closed manager or no cancelled call: the test proves nothing")
	}
	left := runtime.NumGoroutine()
	for tries := 0; left > before && tries < 500; tries++ {
		time.Sleep(10 * time.Millisecond)
		left = runtime.NumGoroutine()
	}
	if left > before {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after:\n%s", before, left, stacks[:runtime.Stack(stacks, true)])
	}
}
