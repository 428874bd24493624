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
		t.Fatalf("%d refusals told", len(told))
	}
	var p trace.Refused
	if err := json.Unmarshal([]byte(told[0].Data.String()), &p); err != nil {
		t.Fatal(err)
	}
	if p.Limit != 8_000 || !p.Retried || p.Window <= 0 || p.Window > 8_000 || p.Estimated <= 8_000 || p.SessionID == "" || p.Model == "" {
		t.Errorf("%+v", p)
	}
}
