package compact_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// scripted is a model whose calls end as in its script; the last end repeats. Each
// call takes half a second.
type scripted struct {
	model string
	ends  []ending
	n     atomic.Int32 // calls; an abandoned one and the next can begin at the same moment
}

type ending struct {
	err   error
	usage int // tokens of the prompt; 0 = the answer does not report them
	hangs bool
}

func (s *scripted) Describe() strategy.Info {
	return strategy.Info{Name: "openai", Model: s.model, Remote: true}
}

func (s *scripted) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	end := s.ends[min(int(s.n.Add(1)), len(s.ends))-1]
	takes := 500 * time.Millisecond
	if end.hangs {
		takes = time.Hour
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return strategy.Draft{}, ctx.Err()
	}
	if end.err != nil && end.usage == 0 {
		return strategy.Draft{}, end.err
	}
	d := strategy.Draft{Text: "## Goals and success criteria\n- [open] the tests of the module pass\n", PromptTokens: end.usage}
	if end.usage > 0 {
		d.CompletionTokens = 20
	}
	return d, end.err
}

// haiku returns the cost of a call with a usage, by the card of claude-haiku-4-5.
func haiku(prompt, answers int) float64 {
	card, _ := price.For("claude-haiku-4-5")
	return card.Cost(price.Usage{Fresh: prompt, Output: 20 * answers})
}

// summarized returns the payloads of the summaries of a rig that is closed.
func summarized(t *testing.T, r *rig) (all []trace.Summarize) {
	t.Helper()
	for _, e := range r.events.Named(trace.NameSummarize) {
		all = append(all, dataOf[trace.Summarize](t, e))
	}
	return all
}

// The cost of a summary is the cost of its answers. Refused requests cost nothing, and
// requests that may have been billed are marked as estimates.
func TestSummaryCostCountsItsAnswers(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for name, test := range map[string]struct {
		ends      []ending
		usd       float64
		estimated bool
		attempts  int
	}{
		"answered":                {[]ending{{usage: 900}}, haiku(900, 1), false, 1},
		"503":                     {[]ending{{err: &strategy.Failure{Reason: strategy.ErrTransient, Status: 503}}}, 0, false, 3},
		"refused connection":      {[]ending{{err: &strategy.Failure{Reason: strategy.ErrTransient, Detail: refused}}}, 0, false, 3},
		"401":                     {[]ending{{err: &strategy.Failure{Reason: strategy.ErrRejected, Status: 401}}}, 0, false, 1},
		"503, then answered":      {[]ending{{err: &strategy.Failure{Reason: strategy.ErrTransient, Status: 503}}, {usage: 900}}, haiku(900, 1), false, 2},
		"a refusal with a usage":  {[]ending{{err: &strategy.Failure{Reason: strategy.ErrRefused}, usage: 900}}, haiku(1800, 2), false, 2},
		"answered, no usage":      {[]ending{{}}, 0, true, 1},
		"hangs":                   {[]ending{{hangs: true}, {usage: 900}}, haiku(900, 1), true, 2},
		"cut off by a dead proxy": {[]ending{{err: &strategy.Failure{Reason: strategy.ErrTransient, Detail: syscall.ECONNRESET}}, {usage: 900}}, haiku(900, 1), true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := compact.Config{MaxContextTokens: 8_000, Summarize: &scripted{model: "claude-haiku-4-5", ends: test.ends}, Prices: sonnet}
				c.Summarizer.MaxAttempts, c.Summarizer.Timeout = 3, time.Minute
				r := newRig(t, c)
				b := r.preflight(loop(100, 200)).Bill
				made := dataOf[trace.Summarize](t, last(t, r, trace.NameSummarize))
				call := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall))
				if got := b.SummaryUSD - b.SummaryEstimatedUSD; !near(got, test.usd) || b.SummaryEstimatedUSD > 0 != test.estimated {
					t.Errorf("billed %v, want %v; estimated %v", got, test.usd, b.SummaryEstimatedUSD)
				}
				if !near(made.USD, b.SummaryUSD) || !near(made.EstimatedUSD, b.SummaryEstimatedUSD) || !near(call.Bill.SummaryUSD, b.SummaryUSD) || !near(call.Bill.SummaryEstimated, b.SummaryEstimatedUSD) {
					t.Errorf("the summary says %v and %v, the call %+v, the result %+v", made.USD, made.EstimatedUSD, call.Bill, b)
				}
				if made.Attempts != test.attempts || !strings.HasPrefix(made.Prices, "claude-haiku-4-5 (") || b.SummaryPrices != made.Prices {
					t.Errorf("%d attempts, want %d; priced by %q and %q", made.Attempts, test.attempts, made.Prices, b.SummaryPrices)
				}
			})
		})
	}
}

// The bill names the card of the agent's model if the summarizer's model has none.
func TestBillNamesTheSubstituteCard(t *testing.T) {
	r, _ := priced(t, compact.Config{MaxContextTokens: 8_000, Summarize: &scripted{model: "in-house-7b", ends: []ending{{usage: 900}}}})
	b := r.preflight(loop(100, 200)).Bill
	if !strings.HasPrefix(b.SummaryPrices, "claude") || !strings.HasSuffix(b.SummaryPrices, " in place of in-house-7b") {
		t.Errorf("priced by %q, want text that begins with %q and text that ends with %q", b.SummaryPrices, "claude", " in place of in-house-7b")
	}
	local := newRig(t, compact.Config{MaxContextTokens: 8_000})
	if b := local.preflight(loop(100, 200)).Bill; b.SummaryPrices != "" || b.SummaryUSD != 0 {
		t.Errorf("the extractive backend is priced: %+v", b)
	}
}

// A summary that no call used was paid for: its event and the bill of the session
// have its cost.
func TestUnusedSummaryIsInTheBill(t *testing.T) {
	another := append(turns(1, 10), loop(250, 200)...)
	for name, test := range map[string]struct {
		wait      time.Duration // until the next call, or the end
		next      []message.Message
		usd       float64
		estimated bool
		attempts  int
	}{
		"done, at the end":                {time.Second, nil, haiku(900, 1), false, 1},
		"done, another conversation":      {time.Second, another, haiku(900, 1), false, 1},
		"under way, at the end":           {0, nil, 0, true, 1},
		"under way, another conversation": {0, another, 0, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: &scripted{model: "claude-haiku-4-5", ends: []ending{{usage: 900}}}, Prices: sonnet})
				if _, err := r.Preflight(gaveUp(t), "s", loop(250, 200)); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				time.Sleep(test.wait)
				var bill compact.SessionBill
				if test.next != nil {
					bill = r.preflight(test.next).Bill.Session
				}
				if err := r.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				sum, unused := 0.0, 0
				for i, p := range summarized(t, r) {
					sum += p.USD
					if !p.Unused {
						continue
					}
					unused++
					if took := r.events.Named(trace.NameSummarize)[i].Duration(); test.wait > 0 && took != time.Second/2 {
						t.Errorf("the summary took half a second, but its event lasts %s", took)
					}
					if !near(p.USD-p.EstimatedUSD, test.usd) || p.EstimatedUSD > 0 != test.estimated || p.Attempts != test.attempts || p.Model != "claude-haiku-4-5" || p.ErrorType != "" {
						t.Errorf("%+v, want %v and %d attempts", p, test.usd, test.attempts)
					}
				}
				if total := r.CompactManager.Bill().SummaryUSD; !near(total, sum) {
					t.Errorf("all summaries cost %v, the manager's bill says %v", sum, total)
				}
				if unused != 1 || test.next != nil && !near(bill.SummaryUSD, sum) {
					t.Errorf("%d unused summaries; all cost %v, the session's bill says %v", unused, sum, bill.SummaryUSD)
				}
			})
		})
	}
}

// No call asks for the summary of a branch that has left memory, but the session has
// paid for the summary.
func TestSummaryOfAForgottenBranchIsInTheBill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: &scripted{model: "claude-haiku-4-5", ends: []ending{{usage: 900}}}, Prices: sonnet})
		if _, err := r.Preflight(gaveUp(t), "s", loop(250, 200), compact.WithBranch("mine")); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		var bill compact.SessionBill
		for i := range 70 { // more than stay in memory
			bill = r.preflight(turns(1, 10), compact.WithBranch(fmt.Sprint("other-", i))).Bill.Session
		}
		if !near(bill.SummaryUSD, haiku(900, 1)) {
			t.Errorf("the session paid %v, want %v", bill.SummaryUSD, haiku(900, 1))
		}
	})
}

// A summary that was paid in a call that then failed is in the session's bill.
func TestSummaryOfAFailedCallIsInTheBill(t *testing.T) {
	a := &failing{Archive: memory.New(), word: "ledger"}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: &scripted{model: "claude-haiku-4-5", ends: []ending{{usage: 900}}}, Archive: a, Prices: sonnet})
	if _, err := r.Preflight(context.Background(), "s", loop(100, 200)); !errors.Is(err, compact.ErrArchiveFailed) {
		t.Fatal(err)
	}
	a.word = ""
	b := r.preflight(turns(2, 10)).Bill
	if b.SummaryUSD != 0 || !near(b.Session.SummaryUSD, haiku(900, 1)) {
		t.Errorf("the session paid %v, want %v", b.Session.SummaryUSD, haiku(900, 1))
	}
}

// A summary that was begun in an earlier call has the times of the manager's clock.
func TestSummaryIsOnTheClockOfTheManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := compact.Config{MaxContextTokens: 8_000, Summarize: &scripted{model: "claude-haiku-4-5", ends: []ending{{usage: 900}}}, Prices: sonnet}
		c.Now = func() time.Time { return time.Now().Add(-1000 * time.Hour) }
		r := newRig(t, c)
		if _, err := r.Preflight(gaveUp(t), "s", loop(250, 200)); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r.preflight(append(turns(1, 10), loop(250, 200)...)) // another conversation: the first summary is thrown away
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, e := range r.events.Named(trace.NameSummarize) {
			if age := c.Now().Sub(e.Start); age < 0 || age > time.Minute || e.End.Before(e.Start) || e.Duration() > time.Minute {
				t.Errorf("a summary began %s ago, and lasted %s", age, e.Duration())
			}
		}
	})
}
