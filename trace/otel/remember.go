package otel

import (
	"sync"

	oteltrace "go.opentelemetry.io/otel/trace"
)

// generations is a map that forgets: when it is full, the older half goes.
type generations[V any] struct {
	recent, older map[string]V
}

// maxGeneration bounds each half of a generations.
const maxGeneration = 4096

func newGenerations[V any]() *generations[V] {
	return &generations[V]{recent: map[string]V{}}
}

func (g *generations[V]) put(key string, v V) {
	if len(g.recent) >= maxGeneration {
		g.older, g.recent = g.recent, map[string]V{}
	}
	g.recent[key] = v
}

func (g *generations[V]) find(key string) (V, bool) {
	if v, ok := g.recent[key]; ok {
		return v, true
	}
	v, ok := g.older[key]
	return v, ok
}

// callers remembers the spans that Join found, for what events don't carry:
// whether they are sampled, and their trace state.
type callers struct {
	mu    sync.Mutex
	spans *generations[oteltrace.SpanContext]
}

func newCallers() *callers {
	return &callers{spans: newGenerations[oteltrace.SpanContext]()}
}

func (c *callers) remember(sc oteltrace.SpanContext) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans.put(callerKey(sc.TraceID(), sc.SpanID()), sc)
}

func (c *callers) find(t oteltrace.TraceID, s oteltrace.SpanID) (oteltrace.SpanContext, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans.find(callerKey(t, s))
}

func callerKey(t oteltrace.TraceID, s oteltrace.SpanID) string { return string(t[:]) + string(s[:]) }
