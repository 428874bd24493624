package transport_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/metrics"
	"github.com/agentcompact/compact/trace/tracetest"
)

// A call that fails is sent unchanged, and its refusal is the one that stops an agent: it
// is an event and a metric. No sum has the call, so nothing is taken out of a sum.
func TestTheRefusalAfterAFailedCallIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		fails []provider.Failure
		want  []string
		event string
	}{
		"too long":     {nil, []string{`compact_refusals_total{retried="false"} 1`}, trace.NameRefused},
		"a rate limit": {[]provider.Failure{{Status: http.StatusTooManyRequests}}, []string{`compact_refusals_total{retried="false"} 0`, `compact_provider_errors_total{status="429"} 1`}, trace.NameProviderError},
	} {
		t.Run(name, func(t *testing.T) {
			f, counts, events := forms()[0], metrics.New(nil), &tracetest.Recorder{}
			r := newRig(t, compact.Config{MaxContextTokens: window, Exporters: []trace.Exporter{counts.Exporter(), events}})
			r.server.Window = window
			r.server.Fail(c.fails...)
			r.post(f, f.body(strings.Repeat("word ", 2*window), 0, 0))
			if err := r.m.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			calls, told := events.Named(trace.NameBeforeModelCall), events.Named(c.event)
			if len(calls) != 1 || len(told) != 1 || told[0].ParentID != calls[0].SpanID || !strings.Contains(told[0].Data.String(), "sent unchanged") {
				t.Errorf("%d calls, %d events %s; want 1 of each, the second a child of the first", len(calls), len(told), c.event)
			}
			got := string(counts.AppendText(nil))
			for _, want := range append(c.want, `compact_calls_total{outcome="failed"} 1`) {
				if !strings.Contains(got, "\n"+want+"\n") {
					t.Errorf("the metrics lack %s", want)
				}
			}
			for line := range strings.Lines(got) {
				if strings.HasPrefix(line, "compact_unbilled_") && !strings.HasSuffix(line, " 0\n") {
					t.Errorf("a call that is in no sum is taken out of one: %s", line)
				}
			}
		})
	}
}

// The answer to a request that was sent unchanged because the call failed is billed as any
// other: its usage is an event, and it is in the measured bill.
func TestTheAnswerAfterAFailedCallIsBilled(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.path, func(t *testing.T) {
			counts, events := metrics.New(nil), &tracetest.Recorder{}
			r := newRig(t, compact.Config{MaxContextTokens: window, Exporters: []trace.Exporter{counts.Exporter(), events}})
			r.post(f, f.body(strings.Repeat("word ", 2*window), 0, 0))
			if err := r.m.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			calls, told := events.Named(trace.NameBeforeModelCall), events.Named(trace.NameCallUsage)
			if len(calls) != 1 || len(told) != 1 || told[0].ParentID != calls[0].SpanID {
				t.Fatalf("%d calls, %d events of usage; want 1 of each, the second a child of the first", len(calls), len(told))
			}
			if got := string(counts.AppendText(nil)); !strings.Contains(got, `compact_calls_total{outcome="failed"} 1`) || !regexp.MustCompile(`\ncompact_billed_calls_total\{[^}]*\} 1\n`).MatchString(got) {
				t.Errorf("the metrics have no failed call that was billed: %s", got)
			}
			if b := r.m.Bill(); b.Calls != 0 || b.Measured != 1 || b.MeasuredUSD <= 0 {
				t.Errorf("the bill of a failed call: %+v", b)
			}
		})
	}
}
