package trace

import "context"

// A Joiner is an [Exporter] to a tracing system that the caller may use as
// well.
type Joiner interface {
	// Join looks in ctx for the caller's span of that system and returns a
	// context in which [FromContext] finds it, or ctx itself if there is none.
	// It must not block. It may be called concurrently, also with the other
	// methods and after Shutdown.
	Join(ctx context.Context) context.Context
}

// Join returns a context with the position of the call in the caller's own
// trace: the one that [ContextWith] stored, or else the one that the first
// [Joiner] among the exporters finds. If there is none, it returns ctx itself.
func (p *Pipeline) Join(ctx context.Context) context.Context {
	for _, w := range p.workers {
		if _, _, found := FromContext(ctx); found {
			return ctx
		}
		if j, ok := w.exporter.(Joiner); ok {
			ctx = j.Join(ctx)
		}
	}
	return ctx
}
