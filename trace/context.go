package trace

import "context"

type contextKey struct{}

type position struct{ traceID, parentID string }

// ContextWith returns a context with the position of the call in the caller's
// own trace, so that the events become part of that trace: traceID is the
// trace, parentSpanID the span that becomes the events' parent (empty: the
// events are roots).
func ContextWith(ctx context.Context, traceID, parentSpanID string) context.Context {
	return context.WithValue(ctx, contextKey{}, position{traceID, parentSpanID})
}

// FromContext returns the ids that [ContextWith] stored. ok is false if there
// are none, or if the trace id is empty.
func FromContext(ctx context.Context) (traceID, parentSpanID string, ok bool) {
	p, _ := ctx.Value(contextKey{}).(position)
	return p.traceID, p.parentID, p.traceID != ""
}
