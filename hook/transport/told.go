package transport

import "context"

type laneKey struct{}

// Lane says whose conversation a result or a recall is of: the session, the
// agent and the branch that the request was taken for. ctx is the one that
// [OnResult] or [OnRecall] is handed.
func Lane(ctx context.Context) (session, agent, branch string) {
	who, _ := ctx.Value(laneKey{}).(identity)
	return who.session, who.agent, who.branch
}

// OnRecall is told of each answer with calls of the recall tool that were
// answered here, and how many. f may be called from many goroutines at once.
func OnRecall(f func(ctx context.Context, calls int)) Option {
	return func(t *Transport) { t.onRecall = f }
}

// result tells the program of a result.
func (x *exchange) result(ctx context.Context) {
	if x.t.onResult != nil {
		x.t.onResult(context.WithValue(ctx, laneKey{}, x.who), x.res)
	}
}

// recalled tells it of calls that were answered.
func (x *exchange) recalled(calls int) {
	if x.t.onRecall != nil {
		x.t.onRecall(context.WithValue(x.req.Context(), laneKey{}, x.who), calls)
	}
}
