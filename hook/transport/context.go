package transport

import "context"

type contextKey struct{}

// hints holds the settings for a request from the caller's context.
type hints struct {
	session, agent, branch string
	off                    bool
}

func hintsOf(ctx context.Context) hints {
	h, _ := ctx.Value(contextKey{}).(hints)
	return h
}

// WithSession names the session of the requests that are made with the context.
// It takes precedence over any name in the request.
func WithSession(ctx context.Context, id string) context.Context {
	h := hintsOf(ctx)
	h.session = id
	return context.WithValue(ctx, contextKey{}, h)
}

// WithAgent names the agent that makes the requests, if several agents with
// separate histories share a session; see [compact.WithAgent].
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

// Bypass returns a context whose requests are sent unchanged, for example the requests
// of a summarizer that uses the same client.
func Bypass(ctx context.Context) context.Context {
	h := hintsOf(ctx)
	h.off = true
	return context.WithValue(ctx, contextKey{}, h)
}
