package transport

import "context"

type contextKey struct{}

// hints is what the caller's context says of a request.
type hints struct {
	session, agent, branch string
	off                    bool
}

func hintsOf(ctx context.Context) hints {
	h, _ := ctx.Value(contextKey{}).(hints)
	return h
}

// WithSession names the session of the requests that are made with the
// context. It goes over everything that the request itself says.
func WithSession(ctx context.Context, id string) context.Context {
	h := hintsOf(ctx)
	h.session = id
	return context.WithValue(ctx, contextKey{}, h)
}

// WithAgent names the agent that makes the requests, where several share a
// session with histories of their own; see [compact.WithAgent].
func WithAgent(ctx context.Context, name string) context.Context {
	h := hintsOf(ctx)
	h.agent = name
	return context.WithValue(ctx, contextKey{}, h)
}

// WithBranch names the branch of the agent's history; see [compact.WithBranch].
func WithBranch(ctx context.Context, name string) context.Context {
	h := hintsOf(ctx)
	h.branch = name
	return context.WithValue(ctx, contextKey{}, h)
}

// Bypass lets the requests that are made with the context go out as they are:
// those of a summarizer that uses the same client, for example.
func Bypass(ctx context.Context) context.Context {
	h := hintsOf(ctx)
	h.off = true
	return context.WithValue(ctx, contextKey{}, h)
}
