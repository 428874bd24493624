package trace_test

import (
	"context"
	"testing"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// finder is an exporter to a tracing system in which the caller has a span.
type finder struct {
	tracetest.Recorder
	traceID string
}

func (f *finder) Join(ctx context.Context) context.Context {
	return trace.ContextWith(ctx, f.traceID, "p")
}

func TestJoinAsksExportersInOrderAndTheCallerFirst(t *testing.T) {
	var plain tracetest.Recorder
	p := trace.NewPipeline(exporters(&plain, &finder{}, &finder{traceID: "first"}, &finder{traceID: "second"}), nil)
	defer mustClose(t, p)
	if id, parent, ok := trace.FromContext(p.Join(t.Context())); id != "first" || parent != "p" || !ok {
		t.Errorf("found %q, %q, %v", id, parent, ok)
	}
	if id, _, _ := trace.FromContext(p.Join(trace.ContextWith(t.Context(), "mine", ""))); id != "mine" {
		t.Errorf("found %q, want the caller's ids", id)
	}
}
