package transport_test

import (
	"encoding/json"
	"testing"

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
		t.Fatalf("%d refusals reported", len(told))
	}
	var p trace.Refused
	if err := json.Unmarshal([]byte(told[0].Data.String()), &p); err != nil {
		t.Fatal(err)
	}
	if p.Limit != 8_000 || !p.Retried || p.Window <= 0 || p.Window > 8_000 || p.Estimated <= 8_000 || p.SessionID == "" || p.Model == "" {
		t.Errorf("%+v", p)
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
			t.Fatalf("%s: %d refusals, %d bills", f, len(refused), len(billed))
		}
		var p trace.CallUsage
		if err := json.Unmarshal([]byte(billed[0].Data.String()), &p); err != nil {
			t.Fatal(err)
		}
		if p.Measured > 8_000 || p.SessionCalls != 1 {
			t.Errorf("%s: the bill has %d tokens, and %d calls", f, p.Measured, p.SessionCalls)
		}
	}
}
