package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// sonnet are round prices: read 0.3, write 3.75, input 3, output 15.
var sonnet = compact.PricesConfig{Model: "claude-sonnet-4-5"}

// clock is a time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// The sum of two bills includes every figure.
func TestSumOfBillsIncludesEveryFigure(t *testing.T) {
	var b compact.SessionBill
	set := reflect.ValueOf(&b).Elem()
	for i := range set.NumField() {
		if f := set.Field(i); f.CanInt() {
			f.SetInt(int64(i + 1))
		} else {
			f.SetFloat(float64(i) + 1.5)
		}
	}
	sum := reflect.ValueOf(b.Plus(b))
	for i := range sum.NumField() {
		want := float64(2*i + 3)
		if set.Field(i).CanInt() {
			want--
		}
		if got := sum.Field(i).Convert(reflect.TypeFor[float64]()).Float(); got != want {
			t.Errorf("%s is %v, want %v", sum.Type().Field(i).Name, got, want)
		}
	}
}

func priced(t *testing.T, c compact.Config) (*rig, *clock) {
	t.Helper()
	k := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.Now = k.now
	if c.Prices == (compact.PricesConfig{}) {
		c.Prices = sonnet
	}
	return newRig(t, c), k
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9*math.Max(1, math.Abs(b)) }

func TestBillHasTheCostsWithAndWithoutEdits(t *testing.T) {
	r, _ := priced(t, compact.Config{})
	history := loop(10, 1000)
	first := r.preflight(history)
	total := first.After.Total
	if b := first.Bill; b == nil || b.Estimated != (price.Usage{Written: total}) || !near(b.EstimatedUSD, float64(total)*3.75/1e6) || b.Whole != b.Estimated {
		t.Fatalf("the first call: %+v", b)
	}
	more := append(history[:len(history):len(history)], round(10, 1000)...)
	b := r.preflight(more).Bill
	if b.Estimated.Cached != total || b.Estimated.Written == 0 || b.Estimated.Prompt() <= total {
		t.Errorf("the second call: %+v, the first was of %d tokens", b.Estimated, total)
	}
	if b.Session.Calls != 2 || !near(b.Session.EstimatedUSD, first.Bill.EstimatedUSD+b.EstimatedUSD) || b.Session.Measured != 0 {
		t.Errorf("the session: %+v", b.Session)
	}
}

// If a provider reports no tokens read from a cache, the estimate assumes no cache, until
// the provider reports some.
func TestBillOfAProviderWithoutACache(t *testing.T) {
	for _, observed := range []bool{false, true} {
		r, _ := priced(t, compact.Config{})
		var opts []compact.Option
		if observed {
			opts = append(opts, compact.WithObserve())
		}
		reads := []int{0, 0, 0, 0, 2000, 2000}
		for i, read := range reads {
			res := r.preflight(loop(10+i, 1000), opts...)
			made := res
			if observed {
				made = res.Projected
			}
			warm := i == 1 || i == 5 // the first call wrote it, the fifth read it
			if b := made.Bill; b.Estimated.Cached > 0 != warm || b.Whole.Cached > 0 != warm {
				t.Errorf("observed %v, call %d: %d tokens are thought to be cached, %d of the whole history", observed, i+1, b.Estimated.Cached, b.Whole.Cached)
			}
			r.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true, CachedTokens: read})
		}
	}
}

// A usage that contradicts its request says nothing about the cache, even if the call is only
// observed.
func TestContradictoryUsageSaysNothingAboutTheCache(t *testing.T) {
	for _, observed := range []bool{false, true} {
		r, _ := priced(t, compact.Config{})
		var opts []compact.Option
		if observed {
			opts = append(opts, compact.WithObserve())
		}
		r.preflight(loop(10, 1000), opts...)
		r.Observe(r.preflight(loop(11, 1000), opts...), compact.Usage{PromptTokens: 10, CacheKnown: true})
		next := r.preflight(loop(12, 1000), opts...)
		if observed {
			next = next.Projected
		}
		if b := next.Bill; b.Estimated.Cached == 0 || b.Whole.Cached == 0 {
			t.Errorf("observed %v: %+v", observed, b)
		}
	}
}

// A compaction changes the prompt, so no part of it is expected in a cache. The usage of this
// call does not show whether the provider has a cache.
func TestACompactionDoesNotProveACache(t *testing.T) {
	r, _ := priced(t, compact.Config{MaxContextTokens: 16_000})
	steps := 0
	for i := range 24 {
		res := r.preflight(loop(4+i, 1000))
		if res.Triggered {
			steps++
		}
		if b := res.Bill; i > 1 && (b.Estimated.Cached > 0 || b.Whole.Cached > 0) {
			t.Errorf("call %d, %d steps: %d tokens are thought to be cached, %d of the whole history", i+1, steps, b.Estimated.Cached, b.Whole.Cached)
		}
		r.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true})
	}
	if steps < 2 {
		t.Errorf("only %d steps, want at least 2", steps)
	}
}

func TestBillOfACompactionReadsOnlyItsPrefix(t *testing.T) {
	r, _ := priced(t, compact.Config{MaxContextTokens: 30_000})
	history := loop(10, 1000)
	first := r.preflight(history)
	history = loop(40, 1000)
	res := r.preflight(history)
	if !res.Triggered || res.Bill.Estimated.Cached >= res.After.Total/2 || res.Bill.Whole.Prompt() != res.TokensIn {
		t.Fatalf("triggered %v: %+v of %d tokens, want true", res.Triggered, res.Bill, res.After.Total)
	}
	if res.Bill.Whole.Cached != first.TokensIn {
		t.Errorf("without it %d tokens would be cached, not %d", first.TokensIn, res.Bill.Whole.Cached)
	}
	next := r.preflight(append(history[:len(history):len(history)], round(40, 1000)...))
	if next.Bill.Estimated.Cached != res.After.Total || next.Bill.Session.WholeUSD <= next.Bill.Session.EstimatedUSD {
		t.Errorf("after it: %+v; %d of these tokens should be cached", next.Bill, res.After.Total)
	}
	// Its line in the audit log was written before the step was committed.
	var events []trace.Event
	for _, e := range r.named(trace.NameBeforeModelCall) {
		var p trace.Preflight
		if err := json.Unmarshal([]byte(e.Data.String()), &p); err != nil || p.Bill == nil {
			t.Errorf("the event has no bill: %s (%v)", e.Data, err)
		}
		events = append(events, e)
	}
	if len(events) != 3 {
		t.Errorf("%d events, want 3", len(events))
	}
}

func TestColdCacheIsRewritten(t *testing.T) {
	for name, change := range map[string]func(*rig, *clock, *compact.Result) []compact.Option{
		"the session slept": func(_ *rig, k *clock, _ *compact.Result) []compact.Option {
			k.at = k.at.Add(6 * time.Minute)
			return nil
		},
		"its tools changed": func(*rig, *clock, *compact.Result) []compact.Option {
			return []compact.Option{compact.WithTools([]byte(`[{}]`))}
		},
		"its model changed": func(*rig, *clock, *compact.Result) []compact.Option {
			return []compact.Option{compact.WithModel("gpt-4o")}
		},
		"its usage shows it": func(r *rig, _ *clock, res *compact.Result) []compact.Option {
			r.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true})
			return nil
		},
	} {
		r, k := priced(t, compact.Config{})
		history := loop(10, 1000)
		r.preflight(history)
		res := r.preflight(append(history[:len(history):len(history)], round(10, 1000)...))
		if res.Bill.Estimated.Cached == 0 {
			t.Fatalf("%s: nothing was cached before", name)
		}
		opts := change(r, k, res)
		if b := r.preflight(loop(12, 1000), opts...).Bill; b.Estimated.Cached != 0 || b.Whole.Cached != 0 {
			t.Errorf("%s: %+v, want no cached tokens", name, b)
		}
	}
}

// The sizes of a sent request are in tokens of the model that received it, even if another
// model received a part of it before.
func TestTheCacheOfAModelIsCountedInItsTokens(t *testing.T) {
	cached := func(models ...string) int {
		r, _ := priced(t, compact.Config{})
		history := []message.Message{message.User(strings.Repeat("नमस्ते, यह एक परीक्षण है. ", 300)), message.Assistant("Yes."), message.User("Go on.")}
		for _, model := range models {
			r.preflight(history, compact.WithModel(model))
		}
		other := append(history[:2:2], message.User("Stop."))
		return r.preflight(other, compact.WithModel(models[len(models)-1])).Bill.Estimated.Cached
	}
	if got, want := cached("gpt-4", "gpt-4o"), cached("gpt-4o"); got != want || want == 0 {
		t.Errorf("%d tokens are cached after a change of the model, %d without one", got, want)
	}
}

func TestMeasuredUsageHasItsOwnKeys(t *testing.T) {
	r, _ := priced(t, compact.Config{})
	history := loop(10, 1000)
	first := r.preflight(history)
	n := first.After.Total
	r.Observe(first, compact.Usage{PromptTokens: n, CacheKnown: true, WrittenTokens: n - 100, OutputTokens: 50})
	r.Observe(first, compact.Usage{PromptTokens: n, CacheKnown: true, WrittenTokens: n - 100, OutputTokens: 50}) // the second call has no effect
	want := (float64(n-100)*3.75 + 100*3 + 50*15) / 1e6
	res := r.preflight(append(history[:len(history):len(history)], round(10, 1000)...))
	if s := res.Bill.Session; s.Measured != 1 || !near(s.MeasuredUSD, want) {
		t.Errorf("the session: %+v, want %v measured", s, want)
	}
	all := r.named(trace.NameCallUsage)
	if len(all) != 1 {
		t.Fatalf("%d events, want one", len(all))
	}
	var p trace.CallUsage
	if err := json.Unmarshal([]byte(all[0].Data.String()), &p); err != nil || !near(p.MeasuredUSD, want) || !near(p.EstimatedUSD, first.Bill.EstimatedUSD) || p.Written != n-100 {
		t.Errorf("%+v, %v, want the measured and the estimated cost", p, err)
	}
}

// The tokens that the provider read and wrote for its own summary are billed in
// addition to the prompt.
func TestASummaryOfTheProviderIsMeasured(t *testing.T) {
	for _, known := range []bool{true, false} {
		r, _ := priced(t, compact.Config{})
		res := r.preflight(loop(10, 1000))
		n := res.After.Total
		r.Observe(res, compact.Usage{PromptTokens: n, CacheKnown: known, WrittenTokens: n, OutputTokens: 50, CompactedTokens: 1000, SummaryTokens: 100})
		want := (float64(n)*3.75 + 1000*3 + 150*15) / 1e6
		if s := r.preflight(loop(11, 1000)).Bill.Session; s.Measured != 1 || !near(s.MeasuredUSD, want) {
			t.Errorf("cache known %v: %+v, want %v measured", known, s, want)
		}
	}
}

// The provider's own tools make several prompts of one request. All of them are billed,
// and none corrects the estimate.
func TestRoundsOfTheProvidersToolsAreMeasured(t *testing.T) {
	r, _ := priced(t, compact.Config{})
	r.preflight(loop(10, 1000))
	res := r.preflight(loop(11, 1000))
	n := res.After.Total
	if r.Observe(res, compact.Usage{PromptTokens: 9 * n, ToolRounds: true, CacheKnown: true, OutputTokens: 50}) {
		t.Error("the counts of several prompts corrected the estimate of one")
	}
	b := r.preflight(loop(12, 1000)).Bill
	if want := (float64(9*n)*3 + 50*15) / 1e6; b.Session.Measured != 1 || !near(b.Session.MeasuredUSD, want) {
		t.Errorf("%+v, want %v measured", b.Session, want)
	}
	if b.Estimated.Cached != n {
		t.Errorf("%d tokens count as cached, want %d: the reads of several prompts say nothing about one", b.Estimated.Cached, n)
	}
}

// A provider bills nothing for a request that it refuses, and its cache has nothing of
// it: the next call is estimated as if the refused one had not been made.
func TestARefusedCallLeavesTheSums(t *testing.T) {
	for name, refuse := range map[string]func(*rig, *compact.Result){
		"too long": func(r *rig, res *compact.Result) {
			r.Observe(res, compact.Usage{Refused: true})
			r.Refused(res, compact.Refusal{})
		},
		"an error": func(r *rig, res *compact.Result) { r.Failed(res, 529) },
		"an error, reported twice": func(r *rig, res *compact.Result) {
			r.Failed(res, 529)
			r.Failed(res, 529)
			r.Observe(res, compact.Usage{PromptTokens: res.After.Total})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := priced(t, compact.Config{})
			refuse(r, r.preflight(loop(9, 1000)))
			a := r.preflight(loop(10, 1000))
			if b := a.Bill; b.Estimated.Cached != 0 || b.Session.Calls != 1 || !near(b.Session.EstimatedUSD, b.EstimatedUSD) || !near(b.Session.WholeUSD, b.WholeUSD) {
				t.Errorf("after a refused first call: %+v", b)
			}
			refuse(r, r.preflight(loop(12, 1000)))
			changed := append(loop(4, 1000), message.User("Something else."))
			refuse(r, r.preflight(changed)) // a shorter prompt, of which the cache has the beginning
			b := r.preflight(loop(11, 1000)).Bill
			if b.Estimated.Cached != a.After.Total || b.Whole.Cached != a.TokensIn {
				t.Errorf("%d tokens of the view and %d of the history count as cached, want %d and %d", b.Estimated.Cached, b.Whole.Cached, a.After.Total, a.TokensIn)
			}
			if want := a.Bill.EstimatedUSD + b.EstimatedUSD; b.Session.Calls != 2 || !near(b.Session.EstimatedUSD, want) || b.Session.Measured != 0 {
				t.Errorf("%+v, want 2 calls and $%v", b.Session, want)
			}
		})
	}
}

// A caller sends the history unchanged if a call failed. The provider bills this request as any
// other, so its usage is in the measured sums; the estimates have nothing of it.
func TestTheUsageAfterAFailedCallIsBilled(t *testing.T) {
	for name, q := range map[string]struct {
		first func(*rig, *compact.Result)
		usage compact.Usage
		calls int
		usd   float64
	}{
		"a usage":                {nil, compact.Usage{PromptTokens: 1e6, OutputTokens: 1000}, 1, 3 + 0.015},
		"a cache":                {nil, compact.Usage{PromptTokens: 1e6, CachedTokens: 1e6, CacheKnown: true}, 1, 0.3},
		"an impossible usage":    {nil, compact.Usage{PromptTokens: 10, CachedTokens: 11, CacheKnown: true}, 0, 0},
		"reported twice":         {func(r *rig, res *compact.Result) { r.Observe(res, compact.Usage{PromptTokens: 1e6}) }, compact.Usage{PromptTokens: 1e6}, 1, 3},
		"refused before":         {func(r *rig, res *compact.Result) { r.Observe(res, compact.Usage{Refused: true}) }, compact.Usage{PromptTokens: 1e6}, 0, 0},
		"answered with an error": {func(r *rig, res *compact.Result) { r.Failed(res, 529) }, compact.Usage{PromptTokens: 1e6}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			events := &tracetest.Recorder{}
			r, _ := priced(t, compact.Config{Exporters: []trace.Exporter{events}})
			good := r.preflight(loop(9, 1000))
			res, err := r.CompactManager.Preflight(t.Context(), "s", append(loop(9, 1000), message.User(strings.Repeat("word ", 5000))), compact.WithWindow(4000))
			var short *compact.BudgetError
			if !errors.As(err, &short) {
				t.Fatalf("%v, want a BudgetError", err)
			}
			if q.first != nil {
				q.first(r, res)
			}
			r.Observe(res, q.usage)
			if b := r.Bill(); b.Measured != q.calls || !near(b.MeasuredUSD, q.usd) || b.Calls != 1 || !near(b.EstimatedUSD, good.Bill.EstimatedUSD) {
				t.Errorf("%+v, want $%v measured for %d calls and estimates of one call", b, q.usd, q.calls)
			}
			if err := r.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			told := events.Named(trace.NameCallUsage)
			if len(told) != q.calls {
				t.Fatalf("%d events of usage, want %d", len(told), q.calls)
			}
			for _, e := range told {
				if s := e.Data.String(); !strings.Contains(s, `"tokens_estimated":0,"estimate_error_pct":0`) {
					t.Errorf("a usage without an estimate: %s", s)
				}
			}
		})
	}
}

// Dollars and units of an unknown model's input price are never added up.
func TestSumsKeepUnitsApart(t *testing.T) {
	r := newRig(t, compact.Config{})
	call := func(model string, n int) *compact.Result {
		res, err := r.CompactManager.Preflight(context.Background(), "s", loop(n, 1000), compact.WithModel(model))
		if err != nil {
			t.Fatal(err)
		}
		r.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true})
		return res
	}
	dollars, other := call("gpt-4o", 10).Bill, call("nobody-knows-7", 11).Bill
	if !other.Relative || other.Session.Calls != 1 || other.Session.EstimatedUSD != other.EstimatedUSD || other.Session.MeasuredUSD != 0 {
		t.Errorf("the sum of another unit has dollars: %+v", other)
	}
	b := call("gpt-4o", 12).Bill
	if want := dollars.EstimatedUSD + b.EstimatedUSD; b.Relative || b.Session.Calls != 2 || !near(b.Session.EstimatedUSD, want) || b.Session.Measured != 1 {
		t.Errorf("the sum of dollars is %+v, want $%v", b.Session, want)
	}
	if sum := r.CompactManager.Bill(); sum.Calls != 2 || !near(sum.EstimatedUSD, b.Session.EstimatedUSD) || sum.Measured != 2 {
		t.Errorf("the manager's bill is %+v", sum)
	}
}

// A refusal that comes after the next call changes the sums, but not the assumed state of
// the cache.
func TestALateRefusalLeavesTheCacheAlone(t *testing.T) {
	r, _ := priced(t, compact.Config{})
	late := r.preflight(loop(9, 1000))
	next := r.preflight(loop(10, 1000))
	r.Failed(late, 500)
	if b := r.preflight(loop(11, 1000)).Bill; b.Estimated.Cached != next.After.Total || b.Session.Calls != 2 {
		t.Errorf("%+v, of which %d should be cached", b, next.After.Total)
	}
}

// The usage of a call can come when the next call has been made. Such a usage does not
// show the state of the cache after the next call.
func TestAUsageThatComesLateDoesNotMakeTheCacheCold(t *testing.T) {
	r, _ := priced(t, compact.Config{})
	r.preflight(loop(10, 1000))
	late := r.preflight(loop(11, 1000))
	res := r.preflight(loop(12, 1000))
	r.Observe(late, compact.Usage{PromptTokens: late.After.Total, CacheKnown: true})
	if b := r.preflight(loop(13, 1000)).Bill; b.Estimated.Cached != res.After.Total || b.Session.Measured != 1 {
		t.Errorf("%+v, of which %d should be cached", b, res.After.Total)
	}
}

// A usage without cached tokens shows a cold cache for one call. That call fills the cache
// again, even if no usage is reported for it.
func TestACacheThatMissedIsFilledByTheNextCall(t *testing.T) {
	r, _ := priced(t, compact.Config{})
	r.preflight(loop(10, 1000))
	res := r.preflight(loop(11, 1000))
	r.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true})
	cold := r.preflight(loop(12, 1000))
	if warm := r.preflight(loop(13, 1000)).Bill; cold.Bill.Estimated.Cached != 0 || warm.Estimated.Cached != cold.After.Total {
		t.Errorf("%d tokens cached after the miss, then %d of %d", cold.Bill.Estimated.Cached, warm.Estimated.Cached, cold.After.Total)
	}
}

func TestContradictoryUsageIsReportedOnceAndIgnored(t *testing.T) {
	r, k := priced(t, compact.Config{})
	history := loop(5, 1000)
	said := 0
	for i, u := range []compact.Usage{
		{PromptTokens: 10, CacheKnown: true, CachedTokens: 5},
		{PromptTokens: 5_000_000},
		{PromptTokens: 5000, CacheKnown: true, CachedTokens: 4000, WrittenTokens: 2000},
		{PromptTokens: 5000, CacheKnown: true, CachedTokens: -1},
		{PromptTokens: -1},
	} {
		res := r.preflight(history)
		said += strings.Count(strings.Join(res.Warnings, "\n"), "contradicts the request")
		r.Observe(res, u)
		history = append(history[:len(history):len(history)], round(5+i, 1000)...)
	}
	k.at = k.at.Add(-time.Hour)
	for range 2 {
		res := r.preflight(history)
		said += strings.Count(strings.Join(res.Warnings, "\n"), "contradicts the request")
		if res.Bill.Session.Measured != 0 || res.Bill.Estimated.Cached == 0 {
			t.Errorf("%+v, want no measured call, and cached tokens in the estimate", res.Bill)
		}
		k.at = k.at.Add(-time.Hour)
	}
	res := r.preflight(history)
	if said != 1 {
		t.Errorf("reported %d times, want once", said)
	}
	if strings.Contains(strings.Join(res.Warnings, "\n"), "clock") {
		t.Error("the clock is reported more than once")
	}
}

// If calls are concurrent, an earlier call may end after a later one.
func TestConcurrentCallsAreNoBackwardClock(t *testing.T) {
	r, k := priced(t, compact.Config{})
	for range 2 {
		if said := strings.Join(r.preflight(loop(3, 500)).Warnings, "\n"); strings.Contains(said, "clock") {
			t.Error(said)
		}
		k.at = k.at.Add(-20 * time.Second)
	}
}

func TestBackwardClockIsReportedOnce(t *testing.T) {
	r, k := priced(t, compact.Config{})
	said := 0
	for range 4 {
		said += strings.Count(strings.Join(r.preflight(loop(3, 500)).Warnings, "\n"), "clock ran backwards")
		k.at = k.at.Add(-time.Hour)
	}
	if said != 1 {
		t.Errorf("reported %d times, want once", said)
	}
}

func TestSummariesAreInTheBill(t *testing.T) {
	r, _ := priced(t, compact.Config{MaxContextTokens: 30_000, Summarize: billing{}})
	res, err := r.ManualCompact(context.Background(), "s", loop(20, 1000), "")
	if err != nil || res.Bill == nil {
		t.Fatal(err)
	}
	if res.Bill.SummaryUSD <= 0 || !near(res.Bill.Session.SummaryUSD, res.Bill.SummaryUSD) {
		t.Errorf("%+v, want the cost of the summary, also in the session", res.Bill)
	}
}

// A refused answer is billed once, although the fallback reports the end of a second summary.
func TestRefusedSummaryIsBilledOnce(t *testing.T) {
	config := compact.Config{MaxContextTokens: 30_000, Summarize: billedRefusal{}}
	config.Summarizer.Fallback = "extractive"
	r, _ := priced(t, config)
	res, err := r.ManualCompact(context.Background(), "s", loop(20, 1000), "")
	if err != nil || res.Summary == nil || res.Summary.Fallback != "extractive" {
		t.Fatalf("%+v, %v, want an extractive summary and no error", res.Summary, err)
	}
	if want := (1000*3 + 100*15) / 1e6; !near(res.Bill.SummaryUSD, want) || !near(res.Bill.Session.SummaryUSD, want) {
		t.Errorf("$%f, in the session $%f, want $%f", res.Bill.SummaryUSD, res.Bill.Session.SummaryUSD, want)
	}
}

// billedRefusal is a model whose billed answer is no summary.
type billedRefusal struct{}

func (billedRefusal) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{PromptTokens: 1000, CompletionTokens: 100}, &strategy.Failure{Reason: strategy.ErrRejected}
}

func (billedRefusal) Describe() strategy.Info {
	return strategy.Info{Name: "refusing", Model: "claude-sonnet-4-5", Window: 200_000, Remote: true}
}

func TestPlanIsNotBilled(t *testing.T) {
	r, _ := priced(t, compact.Config{})
	plan, err := r.Plan(context.Background(), "s", loop(3, 500))
	if err != nil || plan.Bill != nil {
		t.Errorf("%+v, %v; want none and no error", plan.Bill, err)
	}
	if b := r.preflight([]message.Message{message.User("go")}).Bill; b.Session.Calls != 1 {
		t.Errorf("%+v, want one call", b.Session)
	}
}
