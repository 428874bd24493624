package serve

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

// The page's memory is bounded for any traffic, and its sums cover all calls.
func TestThePageRemembersABoundedAmount(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := newLive(func(s string) string { return strings.ReplaceAll(s, "secret", "***") }, at)
	const calls = 3000
	for i := range calls {
		at = at.Add(time.Second)
		res := &compact.Result{Session: fmt.Sprintf("secret-%d", i%500), TokensIn: 1000, Triggered: i%3 == 0, MaxTokens: 2000}
		if i%2 == 0 {
			res.Session = "long"
		}
		res.After.Total = 400
		l.result(at, res)
		l.wrong(at, &transport.Error{Op: "archive", Err: errors.New("secret " + strings.Repeat("x", 1000))})
	}
	v := l.view(false)
	if len(v.Sessions) != liveSessions || v.Seen <= liveSessions || v.Calls != calls || v.History != 1000*calls || v.Sent != 400*calls || v.Compactions != calls/3 || v.Failed != calls {
		t.Errorf("%d of %d sessions, %+v, %d failures", len(v.Sessions), v.Seen, v.liveSum, v.Failed)
	}
	if n := len(l.line); n > livePoints+1 || n < livePoints/2 || l.line[0].Calls > 20 || l.line[n-1].Calls != calls {
		t.Errorf("%d sums from call %d to %d", n, l.line[0].Calls, l.line[n-1].Calls)
	}
	long := l.sessions["long"]
	if n := len(long.points); n > livePoints+1 || n < livePoints/2 || long.points[0].Call != 1 || long.points[n-1].Call != calls/2 || len(long.compactions) != liveCompactions {
		t.Errorf("%d points of the long session, %d compactions", n, len(long.compactions))
	}
	if len(v.Failures) != liveFailures || strings.Contains(v.Failures[0].Text, "secret") || len(v.Failures[0].Text) > liveText+10 {
		t.Errorf("%d failures: %s", len(v.Failures), v.Failures[0].Text)
	}
	for _, s := range v.Sessions {
		if strings.Contains(s.Name, "secret") || strings.Contains(string(s.Wide), "secret") {
			t.Fatalf("%s is not redacted", s.Name)
		}
	}
}

// A curve that loses points keeps those of compactions, unless they are most of it.
func TestThinnedCurveKeepsCompactions(t *testing.T) {
	l, at := newLive(func(s string) string { return s }, time.Unix(0, 0)), time.Unix(0, 0)
	const calls = 4 * livePoints
	for i := range calls {
		l.result(at, &compact.Result{Session: "s", TokensIn: i, Triggered: i%50 == 33})
	}
	kept := 0
	for _, p := range l.sessions["s"].points {
		kept += map[bool]int{true: 1}[p.Compacted]
	}
	if kept != calls/50 || len(l.sessions["s"].points) > livePoints {
		t.Errorf("%d of %d compactions in %d points", kept, calls/50, len(l.sessions["s"].points))
	}
}

// A session on the page has the figures of its last call, and the sums of all.
func TestSessionOnThePageHasItsFigures(t *testing.T) {
	l, at := newLive(strings.ToUpper, time.Unix(0, 0)), time.Unix(5, 0)
	for i := range 2 {
		res := &compact.Result{Session: "s", Model: "m", Agent: "a", TokensIn: 1000 * (i + 1), MaxTokens: 4000, Triggered: i == 1, CallStage: "mask", Reason: "usage"}
		res.Before.Total, res.After.Total = 900, 500+i
		l.result(at, res)
	}
	s := l.view(false).Sessions[0]
	if s.No != 1 || s.Name != "S" || s.Model != "M" || s.Window != 4000 || s.View != 501 || s.OfTheWindow != "13 %" || s.History != 3000 || s.Sent != 1001 || s.Calls != 2 || s.Compactions != 1 || !s.At.Equal(at) {
		t.Errorf("%+v", s)
	}
	if want := (liveCompaction{at, 2, "A", 900, 501, "mask", "USAGE"}); len(s.Last) != 1 || s.Last[0] != want {
		t.Errorf("%+v, want %+v", s.Last, want)
	}
	if want := []livePoint{{1, 1000, 500, false}, {2, 2000, 501, true}}; len(s.points) != 2 || s.points[0] != want[0] || s.points[1] != want[1] {
		t.Errorf("%+v, want %+v", s.points, want)
	}
}
