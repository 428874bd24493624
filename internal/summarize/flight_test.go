package summarize

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

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// slowSummarizer is a summarizer that takes one second.
type slowSummarizer struct{ calls atomic.Int64 }

func (f *slowSummarizer) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	f.calls.Add(1)
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return strategy.Draft{}, ctx.Err()
	}
	return strategy.Draft{Text: "## Goals and success criteria\n- [open] all tests must pass\n", PromptTokens: 70, CompletionTokens: 7}, nil
}

// runway is the input of one call of an agent.
type runway struct {
	Beside
	heard, thrown, late int
}

func newRunway(l *Flights) *runway {
	r := &runway{}
	r.Beside = Beside{
		Flights: l, Key: "model", Wait: func() {}, Late: func() { r.late++ },
		Start: func(f func(context.Context)) bool { go f(context.Background()); return true },
		Heard: func(_ time.Time, _ []CallInfo, thrown bool) {
			if r.heard++; thrown {
				r.thrown++
			}
		},
	}
	return r
}

// goes returns the indexes of the messages that a proposal removes.
func goes(p policy.Proposal) []int {
	if len(p.Groups) == 0 {
		return nil
	}
	return p.Groups[0][0].Cut.Removed
}

func TestFlightServesSameOrGrownView(t *testing.T) {
	changed := session(20)
	changed[3] = message.ToolResult("call_0", "edited since")
	protected := session(20)
	protected[2].Protected = true
	same := func() *policy.View { return view(session(20), 6000) }
	for name, test := range map[string]struct {
		view   func() *policy.View
		key    string
		serves bool
		writer Writer // of the second call
		by     string // name of its summarizer; "" = the same summarizer
	}{
		"the same":                 {view: same, key: "model", serves: true},
		"grown":                    {view: func() *policy.View { return view(session(24), 6000) }, key: "model", serves: true},
		"another model":            {view: same, key: "another"},
		"another strategy":         {view: same, key: "model", writer: Writer{Strategy: builtIn("brief")}},
		"another summarizer":       {view: same, key: "model", by: "another"},
		"unredacted":               {view: same, key: "model", writer: Writer{Raw: true}},
		"recalls since":            {view: same, key: "model", writer: Writer{Recall: true}}, // the summary may name references only then
		"changed where it was cut": {view: func() *policy.View { return view(changed, 6000) }, key: "model"},
		"protected since":          {view: func() *policy.View { return view(protected, 6000) }, key: "model"},
		"grown above the budget":   {view: func() *policy.View { return view(session(60), 6000) }, key: "model"},
		"rewound":                  {view: func() *policy.View { return view(session(8), 1500) }, key: "model"},
		"manual, must remove more": {view: func() *policy.View {
			v := view(session(24), 6000)
			v.Manual, v.Goal = true, -1
			return v
		}, key: "model"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l Flights
				defer l.Throw()
				s, one, two := &slowSummarizer{}, newRunway(&l), newRunway(&l)
				gone, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				if _, err := stage(t, Writer{Summarizer: s}).Beside(one.Beside).Propose(gone, view(session(20), 6000)); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				first := s.calls.Load()
				if two.Key, test.writer.Summarizer = test.key, s; test.by != "" {
					test.writer.Summarizer = renamed{s, test.by}
				}
				p, err := stage(t, test.writer).Beside(two.Beside).Propose(t.Context(), test.view())
				if err != nil {
					t.Fatal(err)
				}
				if got := s.calls.Load() == first && two.thrown == 0; got != test.serves {
					t.Errorf("served: %v, want %v; %d summaries, %d thrown away", got, test.serves, s.calls.Load(), two.thrown)
				}
				if cut := goes(p); test.serves && (len(cut) == 0 || p.Summary.Text == "") {
					t.Errorf("the proposal removes %d messages: %v", len(cut), p.Summary)
				}
			})
		})
	}
}

// renamed is a summarizer with a name.
type renamed struct {
	*slowSummarizer
	name string
}

func (r renamed) Describe() strategy.Info { return strategy.Info{Name: r.name, Remote: true} }

// A summary that was finished although its flight was canceled is used: it is paid.
func TestSummaryThatIgnoresItsCancelationIsUsed(t *testing.T) {
	var l Flights
	r := newRunway(&l)
	r.Start = func(f func(context.Context)) bool {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		go f(ended)
		return true
	}
	p, err := stage(t, Writer{Summarizer: answering{}}).Beside(r.Beside).Propose(t.Context(), view(session(20), 6000))
	if err != nil || p.Summary == nil || p.Summary.Text == "" || r.late != 0 {
		t.Errorf("late %d times, %+v: %v", r.late, p.Summary, err)
	}
}

// A call that can't wait for its summary removes nothing if the view fits, and leaves the
// messages to the next call. A view that does not fit is pruned at once.
func TestLateSummaryPrunesOnlyAViewThatDoesNotFit(t *testing.T) {
	total := view(session(20), 1<<20).Total()
	for limit, prunes := range map[int]bool{total: false, total - 1: true} {
		synctest.Test(t, func(t *testing.T) {
			var l Flights
			defer l.Throw()
			r := newRunway(&l)
			r.Until = time.Now().Add(time.Millisecond)
			p, err := stage(t, Writer{Summarizer: &slowSummarizer{}}).Beside(r.Beside).Propose(t.Context(), view(session(20), limit))
			if err != nil || r.late != 1 {
				t.Fatalf("late %d times: %v", r.late, err)
			}
			if pruned := len(goes(p)) > 0; pruned != prunes || pruned && p.Summary.Fallback != FallbackPruning {
				t.Errorf("a view of %d tokens of %d: pruned %v, %+v", total, limit, pruned, p.Summary)
			}
		})
	}
}

// A summary that a failed call took stays available, even if the next call uses no
// summary.
func TestSummaryOfAFailedCallStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Flights
		defer l.Throw()
		s := &slowSummarizer{}
		if p, err := stage(t, Writer{Summarizer: s}).Beside(newRunway(&l).Beside).Propose(t.Context(), view(session(20), 6000)); err != nil || p.Summary == nil || p.Summary.Text == "" {
			t.Fatalf("%+v, %v", p.Summary, err)
		}
		l.Begin() // the call failed, and the next call begins
		if l.Settle(); !l.Waiting() {
			t.Fatal("the summary is gone, but no view uses it")
		}
		l.Begin()
		if p, err := stage(t, Writer{Summarizer: s}).Beside(newRunway(&l).Beside).Propose(t.Context(), view(session(20), 6000)); err != nil || p.Summary == nil || s.calls.Load() != 1 {
			t.Fatalf("%+v, %v: %d summaries", p.Summary, err, s.calls.Load())
		}
		if l.Settle(); l.Waiting() {
			t.Error("the summary waits although a view uses it")
		}
	})
}

// answering is a summarizer that names the answer of its server.
type answering struct{}

func (answering) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{Text: "## Goals and success criteria\n- [open] all tests must pass\n", Answer: strategy.Answer{Model: "small-2", ID: "id-7", Finish: "stop"}}, nil
}

// The event of a finished summary names the model that answered, and its answer.
func TestFinishedSummaryNamesItsAnswer(t *testing.T) {
	var last CallInfo
	w := Writer{Summarizer: answering{}, Observe: func(i CallInfo) { last = i }}
	if _, err := stage(t, w).Propose(t.Context(), view(session(20), 6000)); err != nil {
		t.Fatal(err)
	}
	if want := (strategy.Answer{Model: "small-2", ID: "id-7", Finish: "stop"}); last.Phase != Finished || last.Answer != want {
		t.Errorf("the last event is %v of %+v, want that of %+v", last.Phase, last.Answer, want)
	}
}

// longSummarizer is a summarizer whose drafts use their limit.
type longSummarizer struct{ calls atomic.Int64 }

func (l *longSummarizer) Summarize(_ context.Context, r strategy.Request) (strategy.Draft, error) {
	l.calls.Add(1)
	var text strings.Builder
	text.WriteString("## Progress\n")
	for i := 0; r.Count(text.String())+20 < r.MaxTokens; i++ {
		fmt.Fprintf(&text, "- the loader of pkg%d/handler%d.go skips rows\n", i%20, i%20)
	}
	return strategy.Draft{Text: text.String()}, nil
}

// A view that has grown since a summary was begun gets the summary only if the view then
// fits the budget. This holds even for a summary of the maximum length with long quotes of
// the user.
func TestFlightServesNoViewThatWouldNotFit(t *testing.T) {
	const limit = 6000
	spoken := func(n, more int) []message.Message {
		msgs := session(n)
		msgs[1] = message.User(strings.Repeat("Never touch the tables of the first import. ", 80))
		return append(msgs, message.Assistant(strings.Repeat("word ", more)), message.User("Go on."))
	}
	served := 0
	for more := 1500; more < 2500; more += 100 {
		var l Flights
		s := &longSummarizer{}
		propose := func(v *policy.View) policy.Proposal {
			p, err := stage(t, Writer{Summarizer: s}).Beside(newRunway(&l).Beside).Propose(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		propose(view(spoken(20, 1), limit))
		first := s.calls.Load()
		v := view(spoken(20, more), limit)
		p := propose(v)
		if s.calls.Load() == first && p.Summary != nil && p.Summary.Text != "" {
			served++
			if got := view(apply(t, v, p), limit).Total(); got > limit {
				t.Errorf("after %d words the summary leads to a view of %d tokens of %d", more, got, limit)
			}
		}
		l.Throw()
	}
	if served == 0 {
		t.Error("no summary was used again: the test proves nothing")
	}
}

func TestFlightProposesItsOwnCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Flights
		defer l.Throw()
		s := &slowSummarizer{}
		propose := func(n int) policy.Proposal {
			t.Helper()
			p, err := stage(t, Writer{Summarizer: s}).Beside(newRunway(&l).Beside).Propose(t.Context(), view(session(n), 6000))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		first, grown := propose(20), propose(24)
		if !slices.Equal(goes(first), goes(grown)) || s.calls.Load() != 1 {
			t.Errorf("%d summaries; the proposals remove %d messages, then %d", s.calls.Load(), len(goes(first)), len(goes(grown)))
		}
		l.Settle() // the view uses the summary
		if own := propose(24); len(goes(own)) <= len(goes(grown)) || s.calls.Load() != 2 {
			t.Errorf("%d summaries; the proposal removes only %d messages after %d new ones", s.calls.Load(), len(goes(own)), 8)
		}
		if _, _, ok := l.Throw(); ok {
			t.Error("Throw discarded a summary whose cost was reported")
		}
	})
}

// A summary that failed before a call needed it is no failure of the call, which asks again.
func TestFailedPreparationIsNoFailureOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Flights
		defer l.Throw()
		s := &recovering{}
		early, call := newRunway(&l), newRunway(&l)
		early.Ahead = true
		w := Writer{Summarizer: s, Retries: -1}
		if _, err := stage(t, w).Beside(early.Beside).Propose(t.Context(), view(session(20), 6000)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p, err := stage(t, w).Beside(call.Beside).Propose(t.Context(), view(session(20), 6000))
		if err != nil || p.Summary == nil || p.Summary.Text == "" || s.calls.Load() != 2 {
			t.Errorf("%+v after %d requests: %v", p.Summary, s.calls.Load(), err)
		}
	})
}

// recovering is a summarizer that rejects its first request.
type recovering struct{ slowSummarizer }

func (r *recovering) Summarize(ctx context.Context, q strategy.Request) (strategy.Draft, error) {
	if r.calls.Load() == 0 {
		r.calls.Add(1)
		return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrRejected, Detail: errors.New("out of order")}
	}
	return r.slowSummarizer.Summarize(ctx, q)
}

// The cost of a summary that a failed call took is reported once, even if the history
// changes before any view uses the summary.
func TestTakenSummaryIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Flights
		defer l.Throw()
		s, failed, next := &slowSummarizer{}, newRunway(&l), newRunway(&l)
		if p, err := stage(t, Writer{Summarizer: s}).Beside(failed.Beside).Propose(t.Context(), view(session(20), 6000)); err != nil || p.Summary == nil || failed.heard != 1 {
			t.Fatalf("%+v, reported %d times: %v", p.Summary, failed.heard, err)
		}
		l.Begin() // the call failed, and the next call begins
		changed := session(20)
		changed[3] = message.ToolResult("call_0", "edited since")
		if _, err := stage(t, Writer{Summarizer: s}).Beside(next.Beside).Propose(t.Context(), view(changed, 6000)); err != nil || s.calls.Load() != 2 {
			t.Fatalf("%d summaries: %v", s.calls.Load(), err)
		}
		if next.thrown != 0 || next.heard != 1 {
			t.Errorf("the next call reports %d summaries, %d of them unused; want only its own", next.heard, next.thrown)
		}
	})
}

func TestThrowEndsFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Flights
		s, r := &slowSummarizer{}, newRunway(&l)
		r.Until = time.Now().Add(time.Millisecond)
		p, err := stage(t, Writer{Summarizer: s}).Beside(r.Beside).Propose(t.Context(), view(session(20), 7000))
		if err != nil || len(p.Groups) > 0 || r.late != 1 {
			t.Errorf("a call that can't wait: %d groups, late %d, %v", len(p.Groups), r.late, err)
		}
		began := time.Now()
		_, calls, ok := l.Throw()
		synctest.Wait()
		if !ok || len(calls) == 0 || time.Since(began) > 0 {
			t.Errorf("Throw returned %v with %d calls", ok, len(calls))
		}
		if _, _, again := l.Throw(); again {
			t.Error("the second Throw returned true")
		}
	})
}

// A panic in a flight is reported as the stage's panic, with the stack of the flight.
func TestFlightPanicKeepsStack(t *testing.T) {
	w := Writer{Summarizer: &slowSummarizer{}, Redact: func(string) string { return panicHere() }}
	defer func() {
		if p, ok := recover().(*policy.PanicError); !ok || !strings.Contains(string(p.Stack), "panicHere") {
			t.Errorf("recovered %v", p)
		}
	}()
	_, err := stage(t, w).Beside(newRunway(&Flights{}).Beside).Propose(t.Context(), view(session(20), 6000))
	t.Errorf("no panic: %v", err)
}

//go:noinline
func panicHere() string { panic("here") }
