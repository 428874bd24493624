package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

// The cost of a call includes its summaries, in Stats and on the page. A call without a
// price is only counted. With Observe, the plan counts. The manager itself, which made none
// of these calls, adds the costs of the others to Stats.
func TestSummariesArePartOfTheCost(t *testing.T) {
	h := &Handler{m: unused(t), live: newLive(func(s string) string { return s }, time.Unix(0, 0)), counters: newCounters(), now: time.Now}
	for _, res := range []*compact.Result{
		{Bill: &compact.Bill{EstimatedUSD: 2, SummaryUSD: 0.5, WholeUSD: 4}},
		{Projected: &compact.Result{Bill: &compact.Bill{EstimatedUSD: 1, SummaryUSD: 0.25, WholeUSD: 8}}},
		{Bill: &compact.Bill{EstimatedUSD: 100, SummaryUSD: 100, WholeUSD: 100, Relative: true}},
		{},
	} {
		h.result(t.Context(), res)
	}
	s, v := h.Stats(), h.live.view(false)
	if got := fmt.Sprint(s.With, s.Without, s.Unpriced, s.Calls); got != "1.25 8 2 4" {
		t.Errorf("Stats: %s", got)
	}
	if got := fmt.Sprint(v.With, v.Without, v.Unpriced, v.Calls); got != "3.75 12 2 4" {
		t.Errorf("the page: %s", got)
	}
}

// A call that is not billed leaves the sums and the curve of the page, but its summary was
// paid for. A curve of sums never falls.
func TestUnbilledCallLeavesTheCurve(t *testing.T) {
	h := &Handler{live: newLive(func(s string) string { return s }, time.Unix(0, 0)), counters: newCounters(), now: time.Now}
	call := func(tokens int) *compact.Result {
		res := &compact.Result{Session: "s", TokensIn: tokens, Bill: &compact.Bill{EstimatedUSD: 2, SummaryUSD: 0.5, WholeUSD: float64(tokens)}}
		res.After.Total = tokens / 2
		h.result(t.Context(), res)
		return res
	}
	call(100)
	refused := call(40)
	call(200)
	tag := h.live.tag()
	h.unbilled(t.Context(), refused)
	if h.live.tag() == tag {
		t.Error("a browser keeps the page with the refused call")
	}
	h.unbilled(t.Context(), &compact.Result{Session: "gone"}) // from the page
	v, s := h.live.view(false), h.live.sessions["s"]
	if got := fmt.Sprint(v.Calls, v.Unbilled, v.History, v.Sent, v.With, v.Without, s.Unbilled, s.History, s.With); got != "3 2 300 150 5.5 300 1 300 5.5" {
		t.Errorf("the page: %s", got)
	}
	for i, p := range h.live.line {
		if i > 0 && p.History < h.live.line[i-1].History || p.History > 300 || p.Sent > 150 || p.With > 5.5 || p.Without > 300 {
			t.Errorf("point %d: %+v", i, p)
		}
	}
	if b := &h.bill; b.with != 0 { // the manager takes it out of its own sums
		t.Errorf("%+v", b)
	}
	observed := &compact.Result{Projected: refused}
	h.result(t.Context(), observed)
	h.unbilled(t.Context(), observed)
	if b := &h.bill; b.with != 0.5 || b.without != 0 {
		t.Errorf("observed: %+v", b)
	}
}

// unused returns a manager that no call uses.
func unused(t *testing.T) *compact.CompactManager {
	t.Helper()
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

// Stats has every counter; a refused request is a request.
func TestStatsHasEveryCounter(t *testing.T) {
	c := newCounters()
	h := &Handler{m: unused(t), counters: c}
	for range 4 {
		c.enter(4)
	}
	if c.enter(4) {
		t.Error("the fifth concurrent request entered; four are allowed")
	}
	for _, status := range []int{200, 200, 0} {
		c.leave("openai", status)
	}
	c.refused(http.StatusNotFound)
	c.refused(http.StatusServiceUnavailable)
	c.ended("read")
	c.wrong(t.Context(), &transport.Error{Op: "parse", Err: io.ErrUnexpectedEOF})
	c.wrong(t.Context(), &transport.Error{Op: "pass", Err: transport.ErrPassed}) // not a failure
	c.wrong(t.Context(), io.EOF)                                                 // not the transport's
	c.recalled(t.Context(), 3)
	for _, triggered := range []bool{true, false} {
		res := &compact.Result{TokensIn: 100, Triggered: triggered}
		res.After.Total = 60
		c.result(res)
	}
	want := Stats{Requests: 5, Calls: 2, Compactions: 1, Recalls: 3, Failures: 1, Unanswered: 1, History: 200, Sent: 120}
	if got := h.Stats(); got != want || c.passed != 1 || c.flight != 1 {
		t.Errorf("%+v, want %+v; %d passed, %d in flight", got, want, c.passed, c.flight)
	}
}

// Above the limit of requests, preflight answers at once, and the answer is counted.
func TestBusyPreflightIsRefusedAndCounted(t *testing.T) {
	h := &Handler{counters: newCounters(), cfg: Config{MaxCalls: 1}}
	h.counters.enter(1)
	w := httptest.NewRecorder()
	h.preflight(w, httptest.NewRequest(http.MethodPost, "/v1/preflight", nil))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"code":"busy"`) || h.counters.refusals["503"] != 1 || h.counters.flight != 1 {
		t.Errorf("%d %s, %d refused, %d in flight", w.Code, w.Body, h.counters.refusals["503"], h.counters.flight)
	}
}

// A client that has gone, and a request that is not compacted on purpose, are no failures
// on the page.
func TestThePageListsOnlyFailures(t *testing.T) {
	l := newLive(func(s string) string { return s }, time.Unix(0, 0))
	for _, err := range []error{
		&transport.Error{Op: "compact", Err: context.Canceled}, &transport.Error{Op: "pass", Err: transport.ErrPassed}, io.EOF, &transport.Error{Op: "parse", Err: io.EOF},
	} {
		l.wrong(time.Unix(1, 0), err)
	}
	if l.failed != 1 || len(l.failures) != 1 || l.failures[0].What != "parse" || l.changes != 1 {
		t.Errorf("%d failures, %+v", l.failed, l.failures)
	}
}

// The bucket +Inf and the count include the values above all bounds.
func TestTimesAboveAllBoundsAreCounted(t *testing.T) {
	h := newHistogram(0.5, 1)
	for _, v := range []float64{0.25, 0.5, 1, 8} {
		h.add(v)
	}
	e := &exposition{}
	e.histogram("x", "help", h)
	want := "# HELP x help\n# TYPE x histogram\n" + `x_bucket{le="0.5"} 2` + "\n" + `x_bucket{le="1"} 3` + "\n" + `x_bucket{le="+Inf"} 4` + "\nx_sum 9.75\nx_count 4\n"
	if e.String() != want {
		t.Errorf("got\n%s", e)
	}
}
