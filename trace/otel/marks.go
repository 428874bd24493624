package otel

import (
	"sync"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agentcompact/compact/trace/internal/recent"
)

// marked is the minimum number of callers' spans that are kept for marking.
const marked = 256

// marks sets gen_ai.conversation.compacted on spans of callers.
type marks struct {
	mu        sync.Mutex
	live      *recent.Map[ids, oteltrace.Span] // spans of callers
	calls     *recent.Map[string, ids]         // SpanID of a call's event → its caller
	summaries *recent.Map[string, bool]        // SpanID of a call that made a summary
}

func newMarks() *marks {
	return &marks{
		live: recent.New[ids, oteltrace.Span](marked), calls: recent.New[string, ids](marked), summaries: recent.New[string, bool](marked),
	}
}

// caller remembers a span of a caller.
func (m *marks) caller(s oteltrace.Span) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live.Put(ids{s.SpanContext().TraceID(), s.SpanContext().SpanID()}, s)
}

// call records the caller of a call.
func (m *marks) call(span string, by ids) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.Put(span, by)
	if _, made := m.summaries.Find(span); made {
		m.set(by)
	}
}

// summary records that a call made a summary.
func (m *marks) summary(span string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.summaries.Put(span, true)
	if by, ok := m.calls.Find(span); ok {
		m.set(by)
	}
}

// set marks a span. It does nothing if the span has ended.
func (m *marks) set(by ids) {
	if s, ok := m.live.Find(by); ok {
		s.SetAttributes(compacted.Bool(true))
	}
}
