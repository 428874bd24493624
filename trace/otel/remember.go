package otel

import (
	"sync"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agentcompact/compact/trace/internal/recent"
)

// remembered is how many spans are remembered at least.
const remembered = 4096

// callers remembers the spans that Join found, for what events don't carry:
// whether they are sampled, and their trace state.
type callers struct {
	mu    sync.Mutex
	spans *recent.Map[string, oteltrace.SpanContext]
}

func newCallers() *callers {
	return &callers{spans: recent.New[string, oteltrace.SpanContext](remembered)}
}

func (c *callers) remember(sc oteltrace.SpanContext) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans.Put(callerKey(sc.TraceID(), sc.SpanID()), sc)
}

func (c *callers) find(t oteltrace.TraceID, s oteltrace.SpanID) (oteltrace.SpanContext, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans.Find(callerKey(t, s))
}

func callerKey(t oteltrace.TraceID, s oteltrace.SpanID) string { return string(t[:]) + string(s[:]) }
