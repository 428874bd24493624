package compact

import (
	"time"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// emitDecision emits the decision of this attempt, once. The decision to compact is
// emitted with its step, because the number of the step is not final yet.
func (c *call) emitDecision(started time.Time, view *policy.View) {
	if c.decision != nil {
		return
	}
	c.decision = c.decided(started, view)
	switch {
	case !c.res.Triggered:
		c.hold(c.decisionEvent(c.decision, 0), aboutDecision(c.decision.TriggerDecision))
	case c.emitsEvents():
		c.telling.decided = c.decision
	}
}

// decided returns the decision of this attempt. view is the view that a compaction
// begins with; nil: no compaction began.
func (c *call) decided(started time.Time, view *policy.View) *decision {
	total, b := c.bound(), c.budget
	due := b.Due(c.last)
	d := trace.TriggerDecision{
		SessionID: c.id, Model: c.ep.name, Triggered: c.res.Triggered, Manual: c.q.manual, Reason: c.res.Reason,
		TEst: total, MaxTokens: c.ep.window, Trigger: due, Target: b.Target, Budget: b.Cap, Floor: c.floor, NextTrigger: c.nextDue,
		Note: c.q.note, Policy: c.policyInfo(),
		Checks: c.checks(total, due), Candidates: c.candidates(),
	}
	if total > c.res.Before.Total {
		d.Estimated = c.res.Before.Total
	}
	for _, t := range c.res.Tidied {
		if n := t.ReadAgain + t.Recalled; n > 0 {
			d.TidyNeeded = append(d.TidyNeeded, trace.ReducerCount{Reducer: t.Reducer, Count: n})
		}
	}
	if view != nil {
		k := kept(view)
		k.RecentTurns, k.ToolPairs = min(c.ep.engine.Keep.Turns, k.RecentTurns), min(c.ep.engine.Keep.Pairs, k.ToolPairs)
		d.Plan = &trace.Plan{Kept: k, PrunableCount: c.prunable(view)}
	}
	return &decision{d, started, c.m.now()}
}

// decisionEvent returns the event of a decision. After the compaction its plan holds
// the actual changes.
func (c *call) decisionEvent(d *decision, step int) trace.Event {
	p := d.TriggerDecision
	p.Step = step
	if p.Plan != nil && c.did != nil {
		p.Plan = &trace.Plan{Kept: c.did.kept, PrunableCount: p.Plan.PrunableCount, PrunedCount: c.did.pruned()}
	}
	return c.eventAt(p, d.began, d.ended)
}

// checks returns the comparisons behind a decision; due is the number of tokens at
// which the next compaction is due.
func (c *call) checks(total, due int) []trace.Check {
	b := c.budget
	out := []trace.Check{
		{Check: "t_est >= trigger", Value: float64(total), Threshold: float64(b.Trigger), Met: total >= b.Trigger},
		{Check: "t_est >= next_trigger", Value: float64(total), Threshold: float64(due), Met: total >= due},
		{Check: "t_est > budget", Value: float64(total), Threshold: float64(b.Cap), Met: total > b.Cap},
		{Check: "t_est > target", Value: float64(total), Threshold: float64(b.Target), Met: total > b.Target},
	}
	if c.mayBeTooLarge() {
		out = append(out, trace.Check{Check: trace.ReasonBytes, Value: float64(c.bytesOf(c.view())), Threshold: float64(b.MaxBytes), Met: c.tooLarge()})
	}
	if c.last > 0 {
		out = append(out, trace.Check{
			Check: "last_compaction_ended > target", Value: float64(c.last), Threshold: float64(b.Target), Met: c.last > b.Target,
		})
	}
	return out
}

// prunable returns the largest number of input messages that the stages of this
// call could remove from a view.
func (c *call) prunable(v *policy.View) (n int) {
	gone := make([]bool, len(v.Messages))
	for _, s := range c.ep.engine.Steps {
		taker, ok := s.Stage.(policy.Taker)
		if !ok || c.res.Reason == trace.ReasonEveryCall && s.When != policy.Always {
			continue
		}
		for _, i := range taker.Takes(v) {
			if !gone[i] && !v.Owned(i) {
				gone[i] = true
				n++
			}
		}
	}
	return n
}

// candidates returns the candidates for the decision event: all if one is
// applied, else the one with the least cost in the long run.
func (c *call) candidates() (all []trace.Candidate) {
	best := -1
	for i := range c.res.Candidates {
		x := &c.res.Candidates[i]
		all = append(all, trace.Candidate{
			Cut: x.Cut, KeepTurns: x.Keep.Turns, MaskTurns: x.Mask, Level: x.Level, Due: x.Due, Fixed: x.FixedUSD, Linear: x.LinearUSD,
			Call: x.CallUSD, Saves: x.SavesUSD, Pays: x.Pays, Safe: x.Safe, Chosen: x.Chosen,
		})
		if best < 0 || x.CallUSD < all[best].Call {
			best = i
		}
	}
	if best < 0 || c.offer != nil {
		return all
	}
	return all[best : best+1]
}
