package compact_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/flaky"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/strategy"
)

// Agents of two processes compact one session at once in an archive that sometimes
// fails, before or after an operation. Every step that counts is complete: verify
// accepts it, each removed message can be recalled, and every process makes the same
// view.
func TestStepsUnderFaultsOfTheArchive(t *testing.T) {
	seeds := samples.Of(4)
	if os.Getenv("COMPACT_SOAK") == "1" {
		seeds = 400
	}
	first := rand.Uint64()
	for n := range seeds {
		seed := first + uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { t.Parallel(); flakySession(t, seed) })
	}
}

func flakySession(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	inner := memory.New()
	a := flaky.New(inner, rand.New(rand.NewPCG(seed, 2)))
	a.Fails(2 + r.IntN(25))
	var managers []*rig
	for range 2 {
		var writer strategy.Summarizer
		if r.IntN(3) == 0 {
			writer = &counting{}
		}
		managers = append(managers, newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Summarize: writer}))
	}
	var all sync.WaitGroup
	for agent := range 3 {
		m, grow := managers[r.IntN(2)], rand.New(rand.NewPCG(seed, uint64(10+agent)))
		all.Go(func() {
			history := historyOf(agent, 30)
			for range 12 {
				res, err := m.Preflight(context.Background(), "s", history, asAgent(fmt.Sprint("agent-", agent)))
				switch {
				case err == nil && res.After.Total > res.Budget:
					t.Errorf("agent %d: %d tokens of %d", agent, res.After.Total, res.Budget)
				case err != nil && !errors.Is(err, compact.ErrArchiveFailed):
					t.Errorf("agent %d: %v", agent, err)
				case err != nil && bytesOf(res.Messages) != bytesOf(history):
					t.Errorf("agent %d: with an error comes another view than the history", agent)
				}
				for range 1 + grow.IntN(12) {
					history = append(history, round(len(history), 200)...)
				}
			}
		})
	}
	all.Wait()
	a.Fails(0)
	soundSession(t, inner, managers)
}

// soundSession compares the archived session with the state of each process.
func soundSession(t *testing.T, inner *memory.Archive, managers []*rig) {
	for agent := range 3 {
		history := historyOf(agent, 120)
		var views []string
		for _, m := range append(managers, newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: inner})) {
			res, err := m.Preflight(t.Context(), "s", history, asAgent(fmt.Sprint("agent-", agent)))
			if err != nil {
				t.Fatalf("agent %d, without faults: %v", agent, err)
			}
			views = append(views, bytesOf(res.Messages))
			for _, d := range append(decided(res, policy.Masked), decided(res, policy.Summarized)...) {
				p := history[d].Parts[0]
				if p.Text == "" {
					continue
				}
				if got, err := m.Recall(t.Context(), "s", testkey.Ref(p)); err != nil || !strings.Contains(got, p.Text) {
					t.Errorf("agent %d: message %d is not recalled: %.60q, %v", agent, d, got, err)
				}
			}
		}
		for i := range views {
			if views[i] != views[0] {
				t.Errorf("agent %d: process %d makes a different view", agent, i)
			}
		}
	}
	for _, m := range managers {
		if err := m.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	report, err := record.Verify(t.Context(), inner, "s", record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("verify: %s", p)
	}
	if report.Steps == 0 {
		t.Error("no step was made: the test proves nothing")
	}
}

// lostLedger is an archive that creates the first ledger, and reports a failure late.
// The next read fails, too.
type lostLedger struct {
	storage.Archive
	created chan struct{} // closed when it is there
	once    sync.Once
	lost    atomic.Bool
}

func (l *lostLedger) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if l.lost.CompareAndSwap(true, false) {
		return nil, &storage.Error{Op: "open", Key: k, Err: flaky.Err}
	}
	return l.Archive.Open(ctx, k, off, n)
}

func (l *lostLedger) Create(ctx context.Context, k storage.Key, b storage.Blob) (err error) {
	if err = l.Archive.Create(ctx, k, b); err == nil && strings.Contains(k.String(), "/ledger-") {
		l.once.Do(func() {
			close(l.created)
			time.Sleep(50 * time.Millisecond)
			err = &storage.Error{Op: "create", Key: k, Err: flaky.Err}
			l.lost.Store(true)
		})
	}
	return err
}

// A call fails, but its step is stored. Meanwhile another call with the same history
// waits. It does not see the step, uses the same transcript, and returns the view of
// the step.
func TestCallAfterALostAnswerGetsTheStepsView(t *testing.T) {
	for _, preset := range []string{"graduated", "summarize"} {
		for _, c := range []struct{ rounds, tokens int }{{90, 400}, {60, 2_000}} { // stored with its step, and before it
			t.Run(fmt.Sprint(preset, c.tokens), func(t *testing.T) {
				var err error
				archive := &lostLedger{Archive: memory.New(), created: make(chan struct{})}
				config := compact.Config{Preset: preset, MaxContextTokens: 32_000, Archive: archive, Summarize: &counting{}}
				r, history := newRig(t, config), loop(c.rounds, c.tokens)
				var second *compact.Result
				var both sync.WaitGroup
				both.Go(func() {
					<-archive.created
					second, err = r.Preflight(t.Context(), "s", history)
				})
				if res, err := r.Preflight(t.Context(), "s", history); !errors.Is(err, compact.ErrArchiveFailed) || bytesOf(res.Messages) != bytesOf(history) {
					t.Errorf("the first call: %s, %v, want ErrArchiveFailed", res.Reason, err)
				}
				if both.Wait(); err != nil {
					t.Fatal(err)
				}
				third, elsewhere := r.preflight(history), newRig(t, config).preflight(history)
				if bytesOf(second.Messages) != bytesOf(elsewhere.Messages) || bytesOf(third.Messages) != bytesOf(elsewhere.Messages) {
					t.Error("the second call has a different view")
				}
				if second.Step != 0 || second.Replayed == 0 {
					t.Errorf("step %d, %d edits replayed, want 0", second.Step, second.Replayed)
				}
			})
		}
	}
}

// The next call can use the number of a failed call, although a transcript with that
// number exists: the file of its own transcript has the number of its step.
func TestFailedCallReleasesItsNumber(t *testing.T) {
	archive := &failing{Archive: memory.New(), word: "transcript"}
	r := newRig(t, compact.Config{Preset: "summarize", MaxContextTokens: 32_000, Archive: archive})
	history := loop(60, 2_000) // too large to be stored with its step
	for range 2 {
		if _, err := r.Preflight(t.Context(), "s", history); !errors.Is(err, compact.ErrArchiveFailed) {
			t.Fatal(err)
		}
	}
	archive.word = ""
	res := r.preflight(history)
	if res.Step != 1 || res.Archived == nil || !strings.HasPrefix(res.Archived.Files[0], "transcript-pre-compact-001.") {
		t.Errorf("step %d is in %+v", res.Step, res.Archived)
	}
}

// lateLedger is an archive that creates the first ledger when the second one arrives. It
// has reported a failure of the first one long before.
type lateLedger struct {
	storage.Archive
	late func() error
	n    int
}

func (l *lateLedger) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if !strings.Contains(k.String(), "/ledger-") {
		return l.Archive.Create(ctx, k, b)
	}
	switch l.n++; l.n {
	case 1:
		l.late = func() error { return l.Archive.Create(context.WithoutCancel(ctx), k, b) }
		return &storage.Error{Op: "create", Key: k, Err: flaky.Err}
	case 2:
		if err := l.late(); err != nil {
			return err
		}
	}
	return l.Archive.Create(ctx, k, b)
}

// A failed step arrives in the archive late, before the step of the next call. Both steps
// have the transcript in common, but not the window: the next call does not take the late
// step for its own.
func TestLateStepOfAnEarlierCallIsForeign(t *testing.T) {
	archive := &lateLedger{Archive: memory.New()}
	config := compact.Config{Preset: "summarize", MaxContextTokens: 32_000, Archive: archive, Summarize: &counting{}}
	r, history, small := newRig(t, config), loop(60, 2_000), compact.WithWindow(16_000)
	if res, err := r.Preflight(t.Context(), "s", history); !errors.Is(err, compact.ErrArchiveFailed) || bytesOf(res.Messages) != bytesOf(history) {
		t.Fatalf("the first call: %s, %v, want ErrArchiveFailed", res.Reason, err)
	}
	second := r.preflight(history, small)
	if archive.n < 2 {
		t.Fatal("the second call has stored no step")
	}
	if again, elsewhere := r.preflight(history, small), newRig(t, config).preflight(history, small); bytesOf(second.Messages) != bytesOf(elsewhere.Messages) || bytesOf(again.Messages) != bytesOf(elsewhere.Messages) {
		t.Error("the second call has a different view")
	}
	if second.After.Total > second.Budget {
		t.Errorf("%d tokens of %d", second.After.Total, second.Budget)
	}
}
