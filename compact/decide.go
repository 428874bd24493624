package compact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// outcome holds the decision of one attempt of a call, and its actions. The result
// and the events are derived from it.
type outcome struct {
	decision *decision     // nil = not decided yet
	nextDue  int           // size of the view above the trigger at which the next compaction is due
	floor    int           // smallest possible size of the view, if it prevents a compaction
	offer    *policy.Offer // offer that the economic trigger chose; nil = none
	soon     *policy.Offer // offer that it will choose soon

	shown    *reduce.Conversation // conversation of the result's messages; nil: the unchanged history
	did      *deeds               // messages that this call changed; nil = none
	outChain *reduce.Chain        // chain of the conversation after the commit

	summary     *policy.SummaryInfo // summary that this call made
	summaryFile record.Written      // its file; the zero value: not stored, or unknown
	late        bool                // its summary is not ready in time
	lateTold    bool                // an event reports it
	cause       string              // cause of a missing model summary
	unarchived  bool                // the archive failed, and the call continues
}

// engineRequest returns the request to the engine.
func (c *call) engineRequest() reduce.Request {
	return reduce.Request{
		Conversation: c.now.conv, Fixed: c.fixed, Outside: c.outside, Budget: c.budget,
		Manual: c.q.manual, Estimate: c.q.dry, Legal: c.legal(), Recall: c.recalls(),
		View: c.now.seen.view, Costs: c.now.seen.costs, Sent: c.wasSent().has, Ref: c.s.ref,
	}
}

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
	case total >= due && due >= c.budget.Cap:
		c.res.Reason = trace.ReasonBudget
	case total >= due:
		c.res.Reason = trace.ReasonUsage
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
	if !c.q.dry {
		if err := c.haveKey(ctx); err != nil {
			return err
		}
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
	run.measure(c.m.now().Sub(started))
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
		return c.tidied(ctx, started, run, out)
	}
	if q.Only == policy.Always {
		c.res.Reason = trace.ReasonEveryCall
	}
	return c.carryOut(ctx, started, run, out)
}

// carryOut commits an outcome that changed something; a dry run only reports
// it.
func (c *call) carryOut(ctx context.Context, started time.Time, run *run, out *reduce.Outcome) error {
	c.res.Triggered = true
	c.emitDecision(started, run.view)
	if c.q.dry {
		c.took(out)
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

// unchanged reports why nothing was done although a compaction was due.
func (c *call) unchanged(started time.Time, r *run, q reduce.Request, out *reduce.Outcome) error {
	c.res.Triggered, c.decision, c.telling = false, nil, stepTelling{}
	switch {
	case r.late:
		c.res.Reason = trace.ReasonLate
		c.res.Warnings = append(c.res.Warnings, summarize.ErrLate.Error()+": the view fits without it; the next call uses the summary")
	case q.Only == policy.Always: // the reason why no compaction is due
	case c.q.manual:
		c.res.Reason = trace.ReasonNothingOld
	case c.offer != nil:
		c.res.Reason = trace.ReasonBelow
		c.nothingOffered()
	case c.res.Reason == trace.ReasonBytes: // sayTooLarge reports the rest
		c.res.Reason = trace.ReasonBelow
	default:
		c.res.Reason, c.floor = trace.ReasonFloor, out.View.Total()
		c.explain(out)
	}
	c.discards(out)
	c.keepView(c.now.conv)
	c.emitDecision(started, nil)
	return nil
}

// explain reports, once for each lane, why the session stays above the trigger.
func (c *call) explain(out *reduce.Outcome) {
	if c.lane.explained {
		return
	}
	c.lane.explained = true
	total, bounded := out.View.Total(), ""
	if most := c.upperBound(out.View.Messages, total); most > total {
		bounded = fmt.Sprintf(" (an estimate; the limits apply to its upper bound %d)", most)
	}
	c.res.Warnings = append(c.res.Warnings, fmt.Sprintf(
		"the view costs %d tokens%s, the target is %d, and nothing more may be removed: all messages are pinned, recent or the last user message; compaction waits until more may be removed, or until %d tokens",
		total, bounded, c.budget.Target, c.budget.Cap))
}

func (ep *epoch) always() bool {
	for _, s := range ep.engine.Steps {
		if s.When == policy.Always {
			return true
		}
	}
	return false
}
