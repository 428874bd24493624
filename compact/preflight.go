package compact

import (
	"context"
	"slices"

	"github.com/agentcompact/compact/message"
)

// Call Preflight with the whole history before every model call. It compacts if
// the trigger is reached; otherwise it only applies the edits of earlier
// compactions again, so that the same history always gives the same view.
//
// The history is not modified. The result is never nil; on an error its Messages are
// the unchanged history. Errors are [ErrInsufficientBudget], [ErrArchiveFailed],
// [ErrClosed], [ErrSession], [ErrInternal] and the context's.
func (m *CompactManager) Preflight(ctx context.Context, sessionID string, history []message.Message, opts ...Option) (*Result, error) {
	return m.call(ctx, sessionID, history, request{}, opts)
}

// ManualCompact compacts now, regardless of size: it masks and summarizes
// everything that is not protected. note is the reason to show in the trace. If
// there is nothing to compact, it makes no step, returns the view of earlier
// compactions, and gives the reason in Result.Reason.
func (m *CompactManager) ManualCompact(ctx context.Context, sessionID string, history []message.Message, note string, opts ...Option) (*Result, error) {
	return m.call(ctx, sessionID, history, request{manual: true, note: note}, opts)
}

// Plan returns what [CompactManager.Preflight] would return. It stores and
// sends nothing and calls no model; a placeholder of the expected size stands
// for a summary that a model would write.
func (m *CompactManager) Plan(ctx context.Context, sessionID string, history []message.Message, opts ...Option) (*Result, error) {
	return m.call(ctx, sessionID, history, request{dry: true}, opts)
}

// PlanManual returns what [CompactManager.ManualCompact] would return, as
// [CompactManager.Plan] does for Preflight.
func (m *CompactManager) PlanManual(ctx context.Context, sessionID string, history []message.Message, opts ...Option) (*Result, error) {
	return m.call(ctx, sessionID, history, request{dry: true, manual: true}, opts)
}

// misuse returns the error of a call without a context or a manager.
func misuse(ctx context.Context, m *CompactManager) error {
	switch {
	case m == nil:
		return errNilManager
	case ctx == nil:
		return errNilContext
	}
	return nil
}

func (m *CompactManager) call(ctx context.Context, id string, history []message.Message, q request, opts []Option) (res *Result, err error) {
	defer func() {
		if res == nil { // the call failed before the result was set
			res = untouched(id, history, q)
		}
	}()
	if err := misuse(ctx, m); err != nil {
		return nil, err
	}
	defer m.rescue("the hook", &err)
	history = slices.Clone(history) // background work uses it after the call; the caller's slice can change by then
	for _, o := range opts {
		if o != nil { // an option that the caller chose not to set
			o(&q)
		}
	}
	q.complete()
	q.unnamed = isUnnamed(id)
	q.overrides = m.cfg.matching(q.model, q.agent)
	if q.observe = (q.observe || m.cfg.Observe) && !q.dry; q.observe {
		return m.observed(ctx, id, history, q), nil
	}
	q.mark(history)
	c := newCall(m, id, history, q)
	defer func() { c.release() }()
	err = c.guarded(ctx)
	if c.canRepeat(err) {
		c.release()
		c = newCall(m, id, history, q)
		err = c.guarded(ctx)
	}
	if err != nil {
		c.fail(err)
	} else {
		c.sent(c.res.Messages)
	}
	c.finish(err)
	return c.res, err
}
