package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// The refusal of a provider and the smaller request after it are an event.
func TestARefusalIsReportedWithItsLimit(t *testing.T) {
	events, c := &tracetest.Recorder{}, tight
	c.Exporters = []trace.Exporter{events}
	r := newRig(t, c)
	r.server.Window = 8_000
	f := forms()[0]
	r.post(f, f.body("Fix it.", 60, 200))
	if err := r.m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := events.Named(trace.NameRefused)
	if len(told) != 1 {
		t.Fatalf("%d refusals reported, want 1", len(told))
	}
	var p trace.Refused
	if err := json.Unmarshal([]byte(told[0].Data.String()), &p); err != nil {
		t.Fatal(err)
	}
	if name := told[0].Trace; name == nil || !strings.HasPrefix(name.Name.String(), "REFUSED: ") {
		t.Errorf("the trace is not renamed: %+v", name)
	}
	if p.Limit != 8_000 || !p.Retried || p.Window <= 0 || p.Window > 8_000 || p.Estimated <= 8_000 || p.SessionID == "" || p.Model == "" {
		t.Errorf("%+v, want a retried refusal with the limit 8000", p)
	}
}

// A provider bills nothing for a request that it refuses: only the smaller request after
// it is in the bill.
func TestARefusedRequestIsNotBilled(t *testing.T) {
	for _, f := range forms() {
		events, c := &tracetest.Recorder{}, tight
		c.Exporters = []trace.Exporter{events}
		r := newRig(t, c)
		r.server.Window = 8_000
		r.post(f, f.body("Fix it.", 60, 200))
		if err := r.m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		refused, billed := events.Named(trace.NameRefused), events.Named(trace.NameCallUsage)
		if len(refused) != 1 || len(billed) != 1 {
			t.Fatalf("%s: %d refusals, %d bills; want 1 and 1", f, len(refused), len(billed))
		}
		var p trace.CallUsage
		if err := json.Unmarshal([]byte(billed[0].Data.String()), &p); err != nil {
			t.Fatal(err)
		}
		if p.Measured > 8_000 || p.SessionCalls != 1 {
			t.Errorf("%s: the bill has %d tokens, and %d calls; want at most 8000 and 1", f, p.Measured, p.SessionCalls)
		}
		if b := r.last().Bill; b.Session.Calls != 1 || b.Session.EstimatedUSD != b.EstimatedUSD || b.Estimated.Cached+b.Whole.Cached != 0 {
			t.Errorf("%s: the estimate of the smaller request has a part of the refused one: %+v", f, b)
		}
		if told := events.Named(trace.NameProviderError); len(told) != 0 {
			t.Errorf("%s: the refusal is also reported as %s", f, told[0].Data)
		}
	}
}

// An error of the provider is an event. Its request and the agent's own retry are one
// call in the sums.
func TestAnErrorOfTheProviderIsReportedAndNotBilled(t *testing.T) {
	for _, f := range forms() {
		events := &tracetest.Recorder{}
		r := newRig(t, compact.Config{Exporters: []trace.Exporter{events}})
		r.server.Fail(provider.Failure{Status: 529}, provider.Failure{Status: 429})
		for range 3 {
			r.post(f, f.body("Fix it.", 10, 200))
		}
		if err := r.m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, e := range events.Named(trace.NameProviderError) {
			var p trace.ProviderError
			if err := json.Unmarshal([]byte(e.Data.String()), &p); err != nil {
				t.Fatal(err)
			}
			if name := fmt.Sprintf("ERROR %d: ", p.Status); e.Trace == nil || !strings.HasPrefix(e.Trace.Name.String(), name) || e.Trace.End.IsZero() {
				t.Errorf("%s: the trace is not renamed to %q: %+v", f, name, e.Trace)
			}
			if got = append(got, p.Status); p.Estimated != r.last().After.Total || p.EstimatedUSD != r.last().Bill.EstimatedUSD || p.SessionID != "s" || p.Model == "" {
				t.Errorf("%s: %+v, want the estimate of the request", f, p)
			}
		}
		if !slices.Equal(got, []int{529, 429}) {
			t.Errorf("%s: errors %v, want %v", f, got, []int{529, 429})
		}
		if b := r.last().Bill.Session; b.Calls != 1 || b.EstimatedUSD != r.last().Bill.EstimatedUSD {
			t.Errorf("%s: the sums have the requests without an answer: %+v", f, b)
		}
	}
}

// Without a connection nothing is billed.
func TestAnUnreachableProviderIsReported(t *testing.T) {
	events := &tracetest.Recorder{}
	r := newRig(t, compact.Config{Exporters: []trace.Exporter{events}}, transport.Base(unreachable{}))
	f := forms()[0]
	if _, err := r.client.Do(r.request(t.Context(), f.path, f.body("Fix it.", 1, 1))); err == nil { //nolint:bodyclose // there is none
		t.Fatal("no error")
	}
	if err := r.m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if told := events.Named(trace.NameProviderError); len(told) != 1 || !strings.Contains(told[0].Data.String(), "no connection to the provider") {
		t.Errorf("%v, want one error of the provider", told)
	}
}

type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
}

// A program that adds up the results and takes out the requests that are not billed has
// the tokens of the answered requests alone, whether its requests are compacted or observed.
func TestProgramLearnsWhichRequestsAreNotBilled(t *testing.T) {
	for _, observes := range []bool{false, true} {
		for _, f := range forms() {
			var mu sync.Mutex
			sums := map[string]int{}
			add := func(sign int, ctx context.Context, res *compact.Result) {
				mu.Lock()
				defer mu.Unlock()
				session, _, _ := transport.Lane(ctx)
				sums[session] += sign * res.TokensIn
				sums["calls"] += sign
				*res = compact.Result{} // the program's copy
			}
			r := newRig(t, compact.Config{Observe: observes},
				transport.OnResult(func(ctx context.Context, res *compact.Result) { add(1, ctx, res) }),
				transport.OnUnbilled(func(ctx context.Context, res *compact.Result) { add(-1, ctx, res) }))
			call := func(rounds int) {
				r.post(f, f.body("Fix it.", rounds, 200))
				if err := r.client.Transport.(*transport.Transport).Settle(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			call(10)
			want := map[string]int{"s": sums["s"], "calls": 1}
			r.server.Fail(provider.Failure{Status: 529}, provider.Failure{Status: 429}, provider.Failure{Status: 400})
			for range 3 {
				call(11)
			}
			if r.server.Window = 100; !observes { // less than any view
				call(12)
			}
			if want["s"] == 0 || !maps.Equal(sums, want) {
				t.Errorf("%s, observes %v: %v, want %v", f, observes, sums, want)
			}
		}
	}
}

// A panic of the program's function ends neither the request nor the program.
func TestPanicOfOnUnbilledIsReported(t *testing.T) {
	f := forms()[0]
	r := newRig(t, compact.Config{}, transport.OnUnbilled(func(context.Context, *compact.Result) { panic("a bug") }))
	r.server.Fail(provider.Failure{Status: 529})
	if status, _ := r.post(f, f.body("Fix it.", 1, 1)); status != 529 || len(r.errs) != 1 || !strings.Contains(r.errs[0].Error(), "a bug") {
		t.Errorf("%d, %v, want 529", status, r.errs)
	}
}

// A provider can answer with status 200 and begin the stream with its error. The caller
// gets the stream as it is; the request counts like one that was answered with the error.
// After the begin of an answer, its usage was reported.
func TestAStreamThatBeginsWithAnErrorIsNotBilled(t *testing.T) {
	for name, c := range map[string]struct {
		form   int
		answer string
		status int // 0 = no error is reported
	}{
		"chat":               {1, "data: {\"error\":{\"message\":\"x\",\"type\":\"server_error\",\"param\":null,\"code\":\"rate_limit_exceeded\"}}\n\n", 429},
		"chat, by a gateway": {1, ": waits\n\ndata: {\"error\":{\"message\":\"x\",\"code\":502}}\n\n", 502},
		"chat, an answer":    {1, "data: {\"error\":null,\"choices\":[]}\n\ndata: {\"error\":{\"message\":\"x\"}}\n\n", 0},
		"responses":          {3, "event: response.created\ndata: {\"type\":\"response.created\"}\n\nevent: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"x\"}\n\n", 500},
		"responses, failed":  {3, "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}}}\n\n", 429},
		"anthropic":          {5, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", 529},
		"anthropic, later":   {5, "data: {\"type\":\"message_start\"}\n\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", 0},
		"gemini":             {7, "data: {\"error\":{\"code\":503,\"message\":\"x\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n", 503},
	} {
		events, unbilled := &tracetest.Recorder{}, 0
		r := newRig(t, compact.Config{Exporters: []trace.Exporter{events}}, transport.Base(&wireTap{answer: c.answer, kind: "text/event-stream"}),
			transport.OnUnbilled(func(context.Context, *compact.Result) { unbilled++ }))
		f := forms()[c.form]
		if status, got := r.post(f, f.body("Fix it.", 1, 1)); status != http.StatusOK || got != c.answer {
			t.Errorf("%s: %d %q, want %d and %q", name, status, got, http.StatusOK, c.answer)
		}
		if err := r.m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, e := range events.Named(trace.NameProviderError) {
			var p trace.ProviderError
			if err := json.Unmarshal([]byte(e.Data.String()), &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, p.Status)
		}
		if want := []int{c.status}; unbilled != len(got) || c.status != 0 && !slices.Equal(got, want) || c.status == 0 && len(got) > 0 {
			t.Errorf("%s: errors %v, %d unbilled, want %v", name, got, unbilled, want)
		}
	}
}
