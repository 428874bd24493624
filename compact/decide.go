package compact

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// decide compacts if a compaction is due.
func (c *call) decide(ctx context.Context) error {
	total := c.bound()
	due := c.budget.Due(c.last)
	started := c.m.now()
	c.working = started
	q := c.engineRequest()
	switch {
	case c.q.manual:
		c.res.Reason = trace.ReasonManual
	case c.ep.cfg.Policy.When == policy.Never:
		c.res.Reason = trace.ReasonNever
		c.keepView(c.now.conv)
		c.emitDecision(started, nil)
		return nil
	case total >= due && c.arrivalSuffices(ctx, q, due):
		c.res.Reason, q.Only = trace.ReasonBelow, policy.Always
		c.prepare(ctx)
	case total >= due:
		c.res.Reason = c.dueReason(due)
	case c.tooLarge():
		c.res.Reason = trace.ReasonBytes
	case c.choose():
		c.res.Reason = trace.ReasonEconomic
	default:
		c.res.Reason = trace.ReasonBelow
		if total >= c.budget.Trigger {
			c.waits(due)
		}
		c.prepare(ctx)
		if !c.ep.always() {
			c.keepView(c.now.conv)
			c.emitDecision(started, nil)
			return nil
		}
		q.Only = policy.Always
	}
	return c.compact(ctx, started, q)
}

// dueReason returns the reason in events of a compaction that is due at this size.
func (c *call) dueReason(due int) string {
	if due >= c.budget.Cap {
		return trace.ReasonBudget
	}
	return trace.ReasonUsage
}

// waits records that the view is above the trigger but the next compaction is due
// later, and whether the floor above the target is the reason.
func (c *call) waits(due int) {
	c.res.Reason, c.nextDue = trace.ReasonWaiting, due
	if floor := c.view().Floor(); floor > c.budget.Target {
		c.res.Reason, c.floor = trace.ReasonFloor, floor
	}
}

// compact runs the engine and commits its outcome.
func (c *call) compact(ctx context.Context, started time.Time, q reduce.Request) error {
	if err := c.haveKey(ctx); err != nil {
		return err
	}
	run := newRun(ctx, c)
	defer run.end()
	if q.Only != policy.Always { // a call that only runs the stages of every call doesn't wait for a slot
		if late, err := c.seat(ctx, &run.desk); late || err != nil {
			return c.standing(started, err)
		}
	}
	if !c.q.dry {
		c.s.study(c.lane.memo.unstudied(c.history))
	}
	engine, err := run.engine()
	if err != nil {
		return err
	}
	run.decision = func(v *policy.View) {
		c.res.Triggered = true
		c.emitDecision(started, v)
	}
	run.view = c.view()
	engine = c.aim(engine, &q)
	out, err := run.drive(ctx, engine, &q)
	run.measure(c.m.since(started))
	c.countTidied(out)
	if err != nil {
		c.discards(out)
		c.res.Reason, c.res.Triggered = reasonFor(err, c.res.Reason), true
		c.emitDecision(started, nil)
		return err
	}
	if !out.Changed() {
		return c.unchanged(started, run, q, out)
	}
	if onlyTidied(q, out) {
		if done, err := c.tidied(ctx, started, run, out); done || err != nil {
			return err
		}
		return c.whole(ctx, started, run)
	}
	if q.Only == policy.Always {
		c.res.Reason = trace.ReasonEveryCall
	}
	return c.carryOut(ctx, started, run, out)
}

// whole continues a call whose new results are sent whole, because the archive did not
// store them in time. If the view with the whole results is large enough, it compacts;
// otherwise the view stays unchanged.
func (c *call) whole(ctx context.Context, started time.Time, run *run) error {
	due := c.budget.Due(c.last)
	if c.bound() < due {
		return c.unchanged(started, run, reduce.Request{Only: policy.Always}, &reduce.Outcome{View: run.view, Conversation: c.now.conv})
	}
	c.res.Triggered, c.res.Reason, c.decision = false, c.dueReason(due), nil
	return c.compact(ctx, started, c.engineRequest())
}

// carryOut commits an outcome that changed something; a dry run only reports
// it.
func (c *call) carryOut(ctx context.Context, started time.Time, run *run, out *reduce.Outcome) error {
	c.res.Triggered = true
	c.emitDecision(started, run.view)
	if c.q.dry {
		c.fillResult(out)
		return nil
	}
	return c.commit(ctx, run, out)
}

// aim sets the target in a request, and returns the engine for it.
func (c *call) aim(engine *reduce.Engine, q *reduce.Request) *reduce.Engine {
	q.Budget = c.budget
	if c.offer != nil {
		engine = narrowed(engine, *c.offer)
		q.Budget.Target, q.View = c.offer.Level, nil
	}
	if q.Only != policy.Always {
		q.Budget = c.aimed(q.Only)
	}
	if c.res.Reason == trace.ReasonBytes {
		q.Budget = q.Budget.OfTokensDone()
	}
	return engine
}

func reasonFor(err error, reason string) string {
	if errors.Is(err, ErrInsufficientBudget) {
		return trace.ReasonNoRoom
	}
	return reason
}

// haveKey makes sure that the archive has a key before anything is stored, because
// other processes must recognize the messages that this call compacts.
func (c *call) haveKey(ctx context.Context) error {
	if c.q.dry || c.q.observe || c.m.keys.settled.Load() || c.s.late.missing() != nil {
		return nil
	}
	changed, err := c.m.keys.make(ctx, c.m.archive)
	if err == nil && changed {
		err = errKeyCame
	}
	if err != nil {
		return c.archiveFailed(ctx, "key", err)
	}
	return nil
}

// errKeyCame ends a call whose names were computed with a key other than the
// archive's.
var errKeyCame = errors.New("another process has given the archive a key in the meantime; the next call uses it")

// seat waits for a slot. If the view fits already and the compaction is not manual, it
// waits only until shortly before the deadline, and then reports late. A body that is
// too large does not fit, unless a compaction failed to reduce it before.
func (c *call) seat(ctx context.Context, d *desk) (late bool, err error) {
	until := c.until(ctx)
	if until.IsZero() || c.q.manual || c.bound() > c.budget.Cap || c.tooLarge() && !c.lane.tooLarge {
		return false, d.take(ctx)
	}
	bounded, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	err = d.take(bounded)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}
