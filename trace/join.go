package trace

import "context"

// A Joiner is an [Exporter] to a tracing system that the caller may use as
// well.
type Joiner interface {
	// Join looks in ctx for the caller's span of that system and returns a
	// context in which [FromContext] finds it, or ctx itself if there is none.
	// It must not block, and may be called concurrently, also with the other
	// methods and after Shutdown.
	Join(ctx context.Context) context.Context
}

// Join returns a context that says where in the caller's own trace the call
// happens: what [ContextWith] put there, or else what the first exporter that
// is a [Joiner] finds, or else ctx itself.
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
