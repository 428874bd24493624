package compact_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/crew"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// ahead returns a rig whose summaries take five seconds of the fake clock.
func ahead(t *testing.T, change func(*compact.Config)) (*rig, *crew.Summarizer) {
	s := &crew.Summarizer{After: 5 * time.Second}
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Summarize = "gpt-4", 16_000, s
	if change != nil {
		change(&c)
	}
	return newRig(t, c), s
}

// took makes the calls of an agent that needs six seconds for each step, and returns
// the durations of the calls that compacted.
func took(t *testing.T, r *rig, calls, size int) (compacted []time.Duration) {
	t.Helper()
	history := turns(20, size)
	for n := range calls {
		began := time.Now()
		res, err := r.Preflight(t.Context(), "s", history)
		if err != nil {
			t.Fatal(err)
		}
		if res.Step > 0 {
			compacted = append(compacted, time.Since(began))
		} else if d := time.Since(began); d > 0 {
			t.Errorf("call %d, which compacts nothing, took %v", n, d)
		}
		history = append(history, round(1000+n, size)...)
		time.Sleep(6 * time.Second)
	}
	return compacted
}

// percentile returns the value that this percentage of values does not exceed.
func percentile(all []time.Duration, n int) time.Duration {
	slices.SortFunc(all, cmp.Compare)
	return all[(len(all)*n+99)/100-1]
}

// No call waits for a summarizer that had enough time: with the fake clock, the
// duration of a call is its waiting time.
func TestCompactingCallDoesNotWaitForAPreparedSummary(t *testing.T) {
	for name, test := range map[string]struct {
		change      func(*compact.Config)
		calls, size int
		most, least time.Duration
	}{
		"in the background": {nil, 100, 100, 50 * time.Millisecond, 0},
		"economy":           {economyAhead, 120, 800, 50 * time.Millisecond, 0},
		"without it":        {func(c *compact.Config) { c.Policy.Background = false }, 100, 100, 5 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := ahead(t, func(c *compact.Config) {
					if c.MaxContextTokens = 10_000; test.change != nil {
						test.change(c)
					}
				})
				all := took(t, r, test.calls, test.size)
				used, thrown := billed(t, r)
				if len(all) < 3 || used < 2 {
					t.Fatalf("%d calls compacted, %d with a summary; want at least 3 and at least 2", len(all), used)
				}
				p := percentile(all, 99)
				t.Logf("%d calls compact, 99 of 100 take up to %v; %d summaries, %d thrown away", len(all), p, used, thrown)
				if p > test.most || p < test.least {
					t.Errorf("99 of 100 calls that compact take up to %v, want at most %v and at least %v", p, test.most, test.least)
				}
				if n := int(s.Calls.Load()); used+thrown > n || n > used+thrown+1 {
					t.Errorf("%d summaries are billed as used and %d as thrown away, of %d", used, thrown, n)
				}
				crew.Verify(t, r.archive, len(all))
			})
		})
	}
}

// A call whose new results are reduced, so that no compaction is due, starts the summary
// of the next compaction as every other call does.
func TestASummaryIsPreparedIfNewResultsAreReduced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := ahead(t, func(c *compact.Config) {
			c.MaxContextTokens, c.Policy.Stages = 100_000, []string{"tidy", "summarize"}
			c.Tidy.Wait = time.Hour
		})
		history := turns(20, 2030)
		history = append(history, tidyRound(1)[0], message.ToolResult("call_1", sourceFile(1, 200)))
		res, err := r.Preflight(t.Context(), "s", history)
		if err != nil || res.Reason != trace.ReasonArrival || res.Before.Total < res.Trigger {
			t.Fatalf("%v: %s, %d of %d tokens; want no error and %s", err, res.Reason, res.Before.Total, res.Trigger, trace.ReasonArrival)
		}
		time.Sleep(6 * time.Second)
		if n := s.Calls.Load(); n != 1 {
			t.Errorf("%d summaries are prepared, want 1", n)
		}
	})
}

// A cut with a finished summary is made even if another cut costs less, because the
// other cut would need a new summary. The call does not wait.
func TestPreparedCutIsApplied(t *testing.T) {
	dearer := 0
	for seed := range uint64(samples.Of(5)) {
		synctest.Test(t, func(t *testing.T) {
			r, _ := ahead(t, func(c *compact.Config) { economyAhead(c); c.Policy.RecallWeight = 5 })
			rnd := rand.New(rand.NewPCG(seed, 1))
			history := turns(20, 400)
			for n := range 90 {
				began := time.Now()
				res, err := r.Preflight(t.Context(), "s", history)
				if err != nil {
					t.Fatal(err)
				}
				if res.Step > 0 && !cheapest(res.Candidates) {
					dearer++
					if d := time.Since(began); d > 0 {
						t.Errorf("seed %d, call %d: a cut that is not the cheapest was waited for, %v", seed, n, d)
					}
				}
				history = append(history, round(1000+n, 50+rnd.IntN(800))...)
				time.Sleep(6 * time.Second)
			}
			if _, thrown := billed(t, r); thrown > 0 {
				t.Errorf("seed %d: %d summaries were thrown away", seed, thrown)
			}
		})
	}
	if dearer == 0 {
		t.Error("every cut was the cheapest: the test proves nothing")
	}
}

// cheapest reports whether the chosen candidate has the lowest cost in the long
// run.
func cheapest(all []compact.Candidate) bool {
	least, chosen := math.Inf(1), math.Inf(1)
	for _, x := range all {
		least = min(least, x.CallUSD)
		if x.Chosen {
			chosen = x.CallUSD
		}
	}
	return chosen <= least
}

func economyAhead(c *compact.Config) {
	e, err := compact.Preset("economy")
	if err != nil {
		panic(err)
	}
	e.Model, e.MaxContextTokens, e.Summarize = "claude-sonnet-4-5", 200_000, c.Summarize
	e.Policy.RecallWeight, e.Policy.OverrunPct, e.Policy.Stages = 1, 1, []string{"summarize", "shrink", "squeeze"}
	*c = e
}

// In a window of 16,000 tokens, a call with 13,600 tokens compacts, and a call with
// 12,240 tokens prepares a summary. soonTurns is between the two, and dueTurns is above
// both.
const soonTurns, dueTurns = 57, 62

// soon makes the call that begins a summary, and returns its history.
func soon(t *testing.T, r *rig, opts ...compact.Option) []message.Message {
	t.Helper()
	history := turns(soonTurns, 100)
	res, err := r.Preflight(t.Context(), "s", history, opts...)
	if err != nil || res.Triggered || bytesOf(res.Messages) != bytesOf(history) {
		t.Fatalf("triggered %v, %d of %d tokens: %v; want false and no error", res.Triggered, res.After.Total, res.Trigger, err)
	}
	return history
}

// A prepared summary is used, joined, replaced or discarded; its cost is
// reported each time.
func TestPreparedSummaryIsUsedReplacedOrDiscarded(t *testing.T) {
	due := turns(dueTurns, 100)
	another := slices.Clone(due)
	another[1] = message.User(due[1].Text() + " And now something else.")
	for name, test := range map[string]struct {
		then               func(t *testing.T, r *rig)
		written, used, not int // summaries
	}{
		"is taken": {func(t *testing.T, r *rig) {
			time.Sleep(6 * time.Second)
			waits(t, r, due, 0)
		}, 1, 1, 0},
		"is joined": {func(t *testing.T, r *rig) {
			time.Sleep(2 * time.Second)
			waits(t, r, due, 3*time.Second)
		}, 1, 1, 0},
		"is written once": {func(t *testing.T, r *rig) {
			for n := soonTurns; n < dueTurns-2; n++ {
				r.preflight(turns(n, 100))
				time.Sleep(time.Second)
			}
			time.Sleep(5 * time.Second)
			waits(t, r, due, 0)
		}, 1, 1, 0},
		"is of another prefix": {func(t *testing.T, r *rig) {
			time.Sleep(6 * time.Second)
			waits(t, r, another, 5*time.Second)
		}, 2, 1, 1},
		"is of another branch": {func(t *testing.T, r *rig) {
			time.Sleep(6 * time.Second)
			waits(t, r, due, 5*time.Second, compact.WithBranch("b"))
		}, 2, 1, 1},
		"is of another model": {func(t *testing.T, r *rig) {
			time.Sleep(6 * time.Second)
			waits(t, r, due, 5*time.Second, compact.WithModel("gpt-4-0613"))
		}, 2, 1, 1},
		"is prepared again for another model": {func(t *testing.T, r *rig) {
			time.Sleep(6 * time.Second)
			turbo := []compact.Option{compact.WithModel("gpt-4-turbo"), compact.WithWindow(16_000)}
			soon(t, r, turbo...)
			time.Sleep(6 * time.Second)
			waits(t, r, due, 0, turbo...)
		}, 2, 1, 1},
		"is shorter than a manual compaction needs": {func(t *testing.T, r *rig) {
			time.Sleep(6 * time.Second)
			if res, err := r.ManualCompact(t.Context(), "s", due, ""); err != nil || res.Step != 1 {
				t.Errorf("step %d, %v; want 1 and no error", res.Step, err)
			}
		}, 2, 1, 1},
		"outlives its call": {func(t *testing.T, r *rig) {
			ctx, cancel := context.WithCancel(t.Context())
			if _, err := r.Preflight(ctx, "s", turns(soonTurns, 100)); err != nil {
				t.Fatal(err)
			}
			cancel()
			time.Sleep(6 * time.Second)
			waits(t, r, due, 0)
		}, 1, 1, 0},
		"is not needed":         {func(*testing.T, *rig) { time.Sleep(6 * time.Second) }, 1, 0, 1},
		"ends with its manager": {func(*testing.T, *rig) {}, 1, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := ahead(t, nil)
				soon(t, r)
				synctest.Wait()
				if s.Calls.Load() != 1 {
					t.Fatalf("%d summaries are being written, want 1", s.Calls.Load())
				}
				test.then(t, r)
				if err := r.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				used, thrown := fates(r)
				if n := int(s.Calls.Load()); n != test.written || used != test.used || thrown != test.not {
					t.Errorf("%d summaries were written, %d used, %d thrown away; want %d, %d, %d", n, used, thrown, test.written, test.used, test.not)
				}
			})
		})
	}
}

// waits makes a call that compacts, and compares its duration with the expected
// one.
func waits(t *testing.T, r *rig, history []message.Message, want time.Duration, opts ...compact.Option) *compact.Result {
	t.Helper()
	began := time.Now()
	res, err := r.Preflight(t.Context(), "s", history, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took != want || res.Step == 0 || res.ReductionStage != compact.ReductionSummarization {
		t.Errorf("the call took %v, want %v; step %d, %s", took, want, res.Step, res.ReductionStage)
	}
	return res
}

// fates returns the numbers of used and discarded summaries in the events of a closed
// manager.
func fates(r *rig) (used, thrown int) {
	for _, e := range r.events.Named(trace.NameSummarize) {
		if strings.Contains(e.Data.String(), `"unused":true`) {
			thrown++
		} else {
			used++
		}
	}
	return used, thrown
}

// A plan and an observed call cost nothing.
func TestPlansAndShadowsPrepareNoSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := ahead(t, nil)
		history := turns(soonTurns, 100)
		if _, err := r.Plan(t.Context(), "s", history); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Preflight(t.Context(), "s", history, compact.WithObserve()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Preflight(t.Context(), "other", turns(50, 100)); err != nil { // below prepare_pct
			t.Fatal(err)
		}
		synctest.Wait()
		if n := s.Calls.Load(); n != 0 {
			t.Errorf("%d summaries are being written, want 0", n)
		}
	})
}

// A summarizer that failed when no call waited is asked again by the call that
// needs it.
func TestFailedPreparedSummaryIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &repairedSummarizer{after: time.Now().Add(time.Minute)}
		r, _ := ahead(t, func(c *compact.Config) { c.Summarize = s })
		soon(t, r)
		time.Sleep(2 * time.Minute)
		waits(t, r, turns(dueTurns, 100), 0)
	})
}

// repairedSummarizer is a summarizer that fails until a given time.
type repairedSummarizer struct {
	crew.Summarizer
	after time.Time
}

func (m *repairedSummarizer) Summarize(ctx context.Context, q strategy.Request) (strategy.Draft, error) {
	if time.Now().Before(m.after) {
		return strategy.Draft{}, errors.New("out of order")
	}
	return m.Summarizer.Summarize(ctx, q)
}

// Of two processes, the one that commits first decides; a restart changes
// nothing.
func TestStepOfAnotherProcessReplacesAPreparedSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, _ := ahead(t, nil)
		two, _ := ahead(t, func(c *compact.Config) { c.Archive, c.Policy.PreparePct = one.archive, 1 })
		soon(t, one)
		due := turns(dueTurns, 100)
		first := waits(t, two, due, 5*time.Second) // by now the summary of the other process exists
		time.Sleep(time.Second)
		res := one.preflight(due)
		if res.Step != 0 || bytesOf(res.Messages) != bytesOf(first.Messages) {
			t.Errorf("step %d, and the view differs: %v", res.Step, bytesOf(res.Messages) != bytesOf(first.Messages))
		}
		if err := one.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if used, thrown := fates(one); used != 0 || thrown != 1 {
			t.Errorf("%d summaries used, %d thrown away; want 0 and 1", used, thrown)
		}
		again, _ := ahead(t, func(c *compact.Config) { c.Archive = one.archive })
		if res := again.preflight(due); bytesOf(res.Messages) != bytesOf(first.Messages) {
			t.Error("after a restart the view differs")
		}
		crew.Verify(t, one.archive, 1)
	})
}

// A forgotten session reports the cost of its summary.
func TestPreparedSummaryOfAForgottenSessionIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := ahead(t, func(c *compact.Config) { c.Sessions.MaxBytes = 1 })
		soon(t, r)
		time.Sleep(6 * time.Second)
		if _, err := r.Preflight(t.Context(), "another", turns(2, 10)); err != nil {
			t.Fatal(err)
		}
		if _, thrown := billed(t, r); thrown != 1 {
			t.Errorf("%d events tell of a summary that was thrown away, want 1", thrown)
		}
		waits(t, r, turns(dueTurns, 100), 5*time.Second)
	})
}

// Sessions and branches prepare, take and throw away summaries at the same time. The
// race detector watches them.
func TestSummariesArePreparedConcurrently(t *testing.T) {
	s := &crew.Summarizer{After: time.Millisecond}
	r, _ := ahead(t, func(c *compact.Config) { c.Summarize, c.Sessions.MaxBytes = s, 1<<20 })
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			branch := compact.WithBranch(fmt.Sprint(k % 2))
			for n := soonTurns - 2 + k; n < dueTurns+2; n += 2 {
				history := turns(n, 100)
				if k == 3 { // another conversation in the branch of k = 1
					history[1] = message.User("another request")
				}
				if res, err := r.Preflight(t.Context(), fmt.Sprint("s", k/3), history, branch); err != nil || res.After.Total > res.Budget {
					t.Errorf("%d tokens, %v; want at most %d and no error", res.After.Total, err, res.Budget)
				}
			}
		})
	}
	wg.Wait()
}
