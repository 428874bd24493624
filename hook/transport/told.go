package transport

import (
	"context"
	"slices"

	"github.com/agentcompact/compact/compact"
)

type laneKey struct{}

// Lane returns the session, the agent and the branch of the request that a
// result or a recall belongs to. ctx is the context passed to [OnResult],
// [OnUnbilled] or [OnRecall].
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

// OnUnbilled sets the function that is called when the provider bills nothing for a request
// after [OnResult] got its result: the provider refused it as too long, answered it with an
// error or a redirect, or could not be reached. res is another copy of that result. f may be called
// concurrently. Under [Observe] it can be called before [OnResult] returns.
func OnUnbilled(f func(ctx context.Context, res *compact.Result)) Option {
	return func(t *Transport) { t.unbills = f }
}

// result calls the program's OnResult function with a copy of the result, because the program may
// change and keep it.
func (x *exchange) result(ctx context.Context) {
	if x.t.onResult == nil {
		return
	}
	x.t.onResult(context.WithValue(ctx, laneKey{}, x.who), given(x.res))
}

// given returns a copy of a result for the program.
func given(res *compact.Result) *compact.Result {
	out := *res
	out.Messages, out.Warnings = slices.Clone(out.Messages), slices.Clone(out.Warnings)
	return &out
}

// unbilled calls the program's OnUnbilled function.
func (x *exchange) unbilled(res *compact.Result) {
	if x.t.unbills == nil || res == nil {
		return
	}
	err := x.guard(func() error {
		x.t.unbills(context.WithValue(x.req.Context(), laneKey{}, x.who), given(res))
		return nil
	})
	if err != nil {
		x.warn(x.fault(opAnswer, err))
	}
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
