package transport

import (
	"context"
	"slices"
)

type laneKey struct{}

// Lane returns the session, the agent and the branch of the request that a
// result or a recall belongs to. ctx is the context passed to [OnResult] or
// [OnRecall].
func Lane(ctx context.Context) (session, agent, branch string) {
	who, _ := ctx.Value(laneKey{}).(identity)
	return who.session, who.agent, who.branch
}

// OnRecall sets the function that is called for each answer with calls of the
// recall tool, with the number of calls that the transport answered. f may be
// called concurrently.
func OnRecall(f func(ctx context.Context, calls int)) Option {
	return func(t *Transport) { t.onRecall = f }
}

// result calls the program's OnResult function. The program may change the result that it gets,
// and keep it: the exchange goes on with its own.
func (x *exchange) result(ctx context.Context) {
	if x.t.onResult == nil {
		return
	}
	given := *x.res
	given.Messages, given.Warnings = slices.Clone(given.Messages), slices.Clone(given.Warnings)
	x.t.onResult(context.WithValue(ctx, laneKey{}, x.who), &given)
}

// recalled calls the program's OnRecall function.
func (x *exchange) recalled(calls int) {
	if x.t.onRecall == nil {
		return
	}
	err := x.guard(func() error {
		x.t.onRecall(context.WithValue(x.req.Context(), laneKey{}, x.who), calls)
		return nil
	})
	if err != nil {
		x.warn(x.fault(opRecall, err))
	}
}
