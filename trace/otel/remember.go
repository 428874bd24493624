package otel

import (
	"sync"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agentcompact/compact/trace/internal/recent"
)

// remembered is the minimum number of spans that are remembered.
const remembered = 4096

// callers remembers the spans that Join found, because events do not contain
// the sampling decision and trace state of a span.
type callers struct {
	mu    sync.Mutex
	spans *recent.Map[ids, oteltrace.SpanContext]
	flags *recent.Map[oteltrace.TraceID, oteltrace.TraceFlags] // flags of the last span that Join found in the trace
}

func newCallers() *callers {
	return &callers{
		spans: recent.New[ids, oteltrace.SpanContext](remembered),
		flags: recent.New[oteltrace.TraceID, oteltrace.TraceFlags](remembered),
	}
}

func (c *callers) remember(sc oteltrace.SpanContext) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans.Put(ids{sc.TraceID(), sc.SpanID()}, sc)
	c.flags.Put(sc.TraceID(), sc.TraceFlags())
}

// find returns the span with these ids, if it is a caller's. For another span
// it returns a stand-in, which is sampled if the caller's trace is, or if no
// caller of the trace is known.
func (c *callers) find(t oteltrace.TraceID, s oteltrace.SpanID) oteltrace.SpanContext {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sc, ok := c.spans.Find(ids{t, s}); ok {
		return sc
	}
	flags, ok := c.flags.Find(t)
	if !ok {
		flags = oteltrace.FlagsSampled
	}
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: flags})
}
