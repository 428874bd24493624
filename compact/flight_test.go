package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/crew"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// slowly returns a rig whose summaries take half a second of the fake clock.
func slowly(t *testing.T, c compact.Config) (*rig, *crew.Summarizer) {
	s := &crew.Summarizer{After: 500 * time.Millisecond}
	c.MaxContextTokens, c.Summarize = 16_000, s
	return newRig(t, c), s
}

// billed returns the costs in the events: of used summaries, and of unused ones.
func billed(t *testing.T, r *rig) (used, thrown int) {
	t.Helper()
	for _, e := range r.named(trace.NameSummarize) {
		switch data := e.Data.String(); {
		case strings.Contains(data, `"unused":true`):
			thrown++
		case strings.Contains(data, `"prompt_tokens":900`):
			used++
		}
	}
	return used, thrown
}

// gaveUp returns the context of a client that disconnects after 200 ms without a
// deadline.
func gaveUp(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	t.Cleanup(cancel)
	return ctx
}

// A client whose timeout is shorter than the summarizer's time retries with the
// same history and then with a longer one: only one summary is paid for.
func TestSummarySurvivesCallsThatCanNotWait(t *testing.T) {
	for name, grow := range map[string]int{"same history": 0, "a round more each time": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := slowly(t, compact.Config{})
				for try := 0; ; try++ {
					history := loop(250+try*grow, 200)
					res, err := r.Preflight(gaveUp(t), "s", history)
					if err == nil {
						checkServed(t, r, res, s, history)
						break
					}
					if !errors.Is(err, context.Canceled) || try > 4 {
						t.Fatalf("try %d: %v, want at most 4 and Canceled", try, err)
					}
				}
				if n := transcripts(t, r); grow == 0 && n != 1 {
					t.Errorf("%d transcripts of one history are archived", n)
				}
				if used, thrown := billed(t, r); used != 1 || thrown != 0 {
					t.Errorf("%d summaries used and %d thrown away are in the events, want 1 and 0", used, thrown)
				}
				crew.Verify(t, r.archive, 1)
			})
		})
	}
}

// transcripts returns the number of the session's transcripts in the archive.
func transcripts(t *testing.T, r *rig) (n int) {
	t.Helper()
	for info, err := range r.archive.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(info.Key.Base(), "transcript-pre-compact") {
			n++
		}
	}
	return n
}

// checkServed compares the call that got the summary with the paid summaries.
func checkServed(t *testing.T, r *rig, res *compact.Result, s *crew.Summarizer, history []message.Message) {
	t.Helper()
	if res.Step != 1 || res.Summary == nil || res.After.Total > res.Trigger || s.Calls.Load() != 1 {
		t.Errorf("step %d, summary %v, %d tokens, %d summaries paid", res.Step, res.Summary, res.After.Total, s.Calls.Load())
	}
	paired(t, res.Messages)
	again := r.preflight(history)
	if again.Triggered || bytesOf(again.Messages) != bytesOf(res.Messages) || s.Calls.Load() != 1 {
		t.Errorf("the next call: triggered %v, %d summaries paid", again.Triggered, s.Calls.Load())
	}
}

// A caller with a deadline gets an answer in time: a view that fits is sent unchanged,
// any other by the configured fallback, and neither is a step. The summary serves the
// next call.
func TestCallNearItsDeadlineTakesTheFallback(t *testing.T) {
	for name, test := range map[string]struct {
		turns     int
		fallback  string
		triggered bool
		stage     compact.ReductionStage
	}{ // of 16,000 tokens 13,600 trigger and 14,500 fit
		"fits, pruning":            {62, summarize.FallbackPruning, false, compact.ReductionNone},
		"does not fit, pruning":    {80, summarize.FallbackPruning, true, compact.ReductionFallback},
		"fits, extractive":         {62, summarize.FallbackExtractive, true, compact.ReductionSummarization},
		"does not fit, extractive": {80, summarize.FallbackExtractive, true, compact.ReductionSummarization},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := compact.Config{}
				c.Summarizer.Fallback = test.fallback
				r, s := slowly(t, c)
				history := turns(test.turns, 100)
				for range 2 {
					began := time.Now()
					res, err := r.Preflight(late(t, 200*time.Millisecond), "s", history)
					if waited := time.Since(began); err != nil || waited > 200*time.Millisecond || waited < 100*time.Millisecond {
						t.Fatalf("after %v: %v", waited, err)
					}
					if res.After.Total > res.Budget || res.Step != 0 || res.Triggered != test.triggered || res.ReductionStage != test.stage || len(res.Warnings) == 0 {
						t.Errorf("%d of %d tokens, step %d, triggered %v, %s, %q; want 0, %v and %s", res.After.Total, res.Budget, res.Step, res.Triggered, res.ReductionStage, res.Warnings, test.triggered, test.stage)
					}
					lateOnce(t, r, res.Triggered, test.fallback)
					if (res.Archived != nil) != res.Triggered {
						t.Errorf("archived: %v", res.Archived)
					}
				}
				time.Sleep(time.Second)
				grown := append(history, round(9999, 100)...)
				res, err := r.Preflight(late(t, 200*time.Millisecond), "s", grown)
				if err != nil {
					t.Fatal(err)
				}
				checkServed(t, r, res, s, grown)
				crew.Verify(t, r.archive, 1)
			})
		})
	}
}

// lateOnce compares the errors of the last call with the expected report of a late
// summary: one error, with its fallback.
func lateOnce(t *testing.T, r *rig, want bool, fallback string) {
	t.Helper()
	call, said := last(t, r, trace.NameBeforeModelCall).SpanID, 0
	for _, e := range r.named(trace.NameError) {
		if e.ParentID != call {
			continue
		}
		said++
		if p := dataOf[trace.Error](t, e); p.ErrorType != "SummaryLate" || p.Cause != "late" || p.Fallback != fallback {
			t.Errorf("%s, %s, %s, want the fallback %s", p.ErrorType, p.Cause, p.Fallback, fallback)
		}
	}
	if said != map[bool]int{true: 1}[want] {
		t.Errorf("%d errors of a late summary", said)
	}
}

// A conversation that leaves its history does not use the summary that was begun for
// that history; the cost of the summary is reported.
func TestUnusedSummaryIsReported(t *testing.T) {
	another := loop(250, 200)
	another[2] = message.Assistant("", message.Call("call_0", "read_file", `{"path":"elsewhere"}`))
	for name, then := range map[string]func(*testing.T, *rig, *crew.Summarizer){
		"another history": func(t *testing.T, r *rig, s *crew.Summarizer) {
			if res := r.preflight(another); res.Step != 1 || s.Calls.Load() != 2 {
				t.Errorf("step %d, %d summaries; want 1 and 2", res.Step, s.Calls.Load())
			}
		},
		"the end": func(t *testing.T, r *rig, s *crew.Summarizer) {},
		"many other branches": func(t *testing.T, r *rig, s *crew.Summarizer) {
			time.Sleep(time.Second) // the summary is done: until then the lane is in use
			for i := range 200 {
				r.preflight(loop(1, 10), compact.WithBranch(fmt.Sprint(i)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := slowly(t, compact.Config{})
				if _, err := r.Preflight(gaveUp(t), "s", loop(250, 200)); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				then(t, r, s)
				if err := r.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				thrown := 0
				for _, e := range r.events.Named(trace.NameSummarize) {
					if strings.Contains(e.Data.String(), `"unused":true`) {
						thrown++
					}
				}
				if thrown != 1 {
					t.Errorf("%d events about an unused summary, want 1", thrown)
				}
			})
		})
	}
}

// A failure that occurred when no call waited is the result of the next call that
// needs the summary, without another request to the summarizer.
func TestFailureOfASummaryServesTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &failingSlowly{}
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: s})
		if _, err := r.Preflight(gaveUp(t), "s", loop(250, 200)); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		calls := s.calls.Load()
		res := r.preflight(loop(250, 200))
		if res.Step != 1 || res.ReductionStage != compact.ReductionFallback || s.calls.Load() != calls || calls == 0 {
			t.Errorf("step %d, %s, the summarizer was asked %d times and then %d more", res.Step, res.ReductionStage, calls, s.calls.Load()-calls)
		}
	})
}

type failingSlowly struct{ calls atomic.Int64 }

func (f *failingSlowly) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	f.calls.Add(1)
	select {
	case <-time.After(500 * time.Millisecond):
	case <-ctx.Done():
	}
	return strategy.Draft{}, errors.New("no such model")
}

// Close ends a summary that is being written; a call that waits for it takes the
// fallback.
func TestCloseEndsSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &crew.Summarizer{After: time.Hour}
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: s})
		var wg sync.WaitGroup
		wg.Go(func() {
			res, err := r.Preflight(t.Context(), "s", loop(250, 200))
			if err != nil || res.After.Total > res.Budget || res.Step != 0 {
				t.Errorf("the call: %d tokens, step %d, %v; want at most %d, 0 and no error", res.After.Total, res.Step, err, res.Budget)
			}
		})
		synctest.Wait()
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}

// A summarizer that panics in the background fails the stage, not the program.
func TestPanicOfASummarizerIsAFailure(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 16_000, Summarize: panickingSummarizer{}})
	res, err := r.Preflight(t.Context(), "s", turns(62, 100))
	if err != nil || res.After.Total > res.Budget || res.ReductionStage != compact.ReductionFallback {
		t.Errorf("%d of %d tokens, %s, %v; want %s and no error", res.After.Total, res.Budget, res.ReductionStage, err, compact.ReductionFallback)
	}
	if len(decided(res, policy.Summarized)) > 0 {
		t.Error("something was summarized")
	}
}

type panickingSummarizer struct{}

func (panickingSummarizer) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	panic("no")
}

// A summary with references is not used in a call without the recall tool.
func TestSummaryWithReferencesServesNoCallWithoutTheTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := slowly(t, compact.Config{})
		history := turns(80, 100)
		if _, err := r.Preflight(gaveUp(t), "s", history, compact.WithRecall()); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		res := r.preflight(history)
		if strings.Contains(res.Summary.Text, "recall") || s.Calls.Load() != 2 {
			t.Errorf("%d summaries were written; the one in the view: %.200s", s.Calls.Load(), res.Summary.Text)
		}
	})
}
