package compact

import (
	"context"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// look computes the current view and its size. Steps of other processes are
// read in the background. Only a call that is about to compact waits for them.
func (c *call) look(ctx context.Context) error {
	started := c.m.now()
	c.working = started
	c.m.refresh(ctx, c.s)
	c.replay()
	c.estimate()
	if c.isDue() {
		missed, err := c.reloadMissed(ctx)
		if err != nil {
			return err
		}
		if missed {
			c.replay()
			c.estimate()
		}
	}
	c.warnStrands()
	c.emitEstimate(started)
	return nil
}

// isDue reports whether a compaction is due.
func (c *call) isDue() bool {
	return c.q.manual || c.bound() >= c.budget.Due(c.last) || c.tooLarge()
}

// replay applies the edits of earlier steps.
func (c *call) replay() {
	started := c.m.now()
	c.seen, c.seenEdits = len(c.s.snapshot()), c.s.lastEdit()
	c.now = c.lane.replay(c.s, c.history, c.q.owner(), c.ep.engine.Pins, c.ep.forms())
	c.replayLegally()
	c.last = 0
	if l := c.now.last; l != nil && l.Model == c.ep.name && l.Window == c.ep.window {
		c.last = max(l.After, l.Bound)
	}
	c.recalibrate()
	c.res.Replayed, c.res.Earlier = c.now.edits, c.earlier()
	c.res.Timing.Replay = c.m.since(started)
}

// estimate counts the tokens that would be sent.
func (c *call) estimate() {
	started := c.m.now()
	c.tools = c.ep.estimator.Tools(c.q.tools)
	c.fixed = c.tools + c.ep.estimator.Reply() + c.q.fixed
	c.budget = c.bounded(c.ep.budget)
	view := c.view()
	c.allot(view)
	c.res.Before = c.layersIn(view)
	c.res.After = c.res.Before
	c.res.TokensIn = c.res.Before.Total
	c.res.Model, c.res.MaxTokens, c.res.CountingUnit = c.ep.name, c.ep.window, c.ep.encoding
	c.res.Budget, c.res.Trigger, c.res.Target = c.budget.Cap, c.budget.Due(c.last), c.budget.Target
	c.res.Keep = c.ep.engine.Keep
	c.res.UpperBound = c.upperBound(view.Messages, c.res.Before.Total)
	c.res.Timing.Count = c.m.since(started)
}

// layers returns the tokens of messages by layer; costs are the tokens of each
// message.
func (c *call) layers(msgs []message.Message, costs []int) Layers {
	l := Layers{ToolsSchema: c.tools, Overhead: c.fixed - c.tools, Messages: len(msgs)}
	for i := range msgs {
		m := &msgs[i]
		*l.of(m.Role, m.Has(message.KindToolResult), m.Role == message.RoleAssistant && policy.IsSummary(*m)) += costs[i]
		l.Total += costs[i]
	}
	l.Total += c.fixed
	return l
}

// layersIn returns the layers of a view.
func (c *call) layersIn(v *policy.View) Layers {
	l := Layers{ToolsSchema: c.tools, Overhead: c.fixed - c.tools, Messages: len(v.Messages)}
	for i := range v.Messages {
		*l.of(v.Messages[i].Role, v.HasResult(i), replacesMessages(v, i)) += v.Tokens[i]
		l.Total += v.Tokens[i]
	}
	l.Total += c.fixed
	return l
}

// replacesMessages reports whether message i of a view replaces removed messages: it is a
// summary, or the notice in place of one.
func replacesMessages(v *policy.View, i int) bool {
	if v.Messages[i].Role != message.RoleSystem {
		return v.Summary(i)
	}
	_, notice := policy.ParseNotice(v.Messages[i])
	return notice && v.Owned(i)
}

func (l *Layers) of(role message.Role, result, replaces bool) *int {
	switch {
	case replaces:
		return &l.Summary
	case role == message.RoleSystem:
		return &l.System
	case role == message.RoleDeveloper:
		return &l.Developer
	case role == message.RoleTool, result:
		return &l.ToolResults
	case role == message.RoleAssistant:
		return &l.Assistant
	}
	return &l.User
}

// bound returns the number that is compared with the trigger: the estimate, or
// the upper bound if calibration shows that the estimate can be low.
func (c *call) bound() int {
	return max(c.res.Before.Total, c.res.UpperBound)
}

// earlier returns the compactions that were made with other settings than this
// call's.
func (c *call) earlier() []Earlier {
	now := Earlier{Preset: c.ep.cfg.Preset, Strategy: c.ep.cfg.Policy.Strategy, Window: c.ep.window}
	var others []Earlier
	for _, made := range c.now.made {
		if !made.sameSettings(&now) {
			others = append(others, made)
		}
	}
	return others
}

// replayLegally omits the edits of earlier steps that break a rule of this
// provider, because they were made for another or an unknown wire.
func (c *call) replayLegally() {
	if c.rules == nil || c.now.edits == 0 {
		return
	}
	err := c.rules.check(c.now.conv.Messages(), c.now.conv.Sources())
	if err == nil {
		return
	}
	c.now = c.s.replay(c.history, c.q.owner(), c.ep.engine.Pins, c.ep.forms(), c.rules.check)
	c.res.InvariantStatus = InvariantsFallback
	c.res.Warnings = append(c.res.Warnings, "edits of an earlier compaction were left out: "+c.m.redactor.Text(err.Error()).String())
	c.emitError("IllegalView", "replay without them", err)
}

// warnStrands adds a warning, once for each lane, if conversations take turns in it.
func (c *call) warnStrands() {
	s := &c.lane.strands
	if s.warned || s.turns < manyTurns {
		return
	}
	*s = strands{warned: true}
	c.res.Warnings = append(c.res.Warnings, "several conversations alternate under one session and agent name, so they wait for each other, and each change is billed as a prompt that no cache holds: give each agent a name (WithAgent, or the header X-Compact-Agent)")
}

// reloadMissed reads the steps of other processes before the call compacts, and reports
// whether its lane has steps that it has not seen. It ignores a failure of the
// archive, which the commit will report; the error is the context's.
func (c *call) reloadMissed(ctx context.Context) (bool, error) {
	if c.s.isVolatile() {
		return false, nil
	}
	if err := c.s.reload(ctx); err != nil {
		return false, ctx.Err()
	}
	return !c.lane.memo.isCurrent(c.s, c.q.owner()), nil
}

func (c *call) emitEstimate(started time.Time) {
	b := c.res.Before
	p := trace.TokenEstimate{
		SessionID: c.id, Model: c.ep.name, TEst: b.Total, MaxTokens: c.ep.window, Budget: c.budget.Cap,
		Breakdown: trace.Breakdown{
			System: b.System, Developer: b.Developer, ToolsSchema: b.ToolsSchema,
			Messages: b.Total - b.System - b.Developer - b.ToolsSchema,
		},
		Messages: b.Messages, HistoryIn: len(c.history), Encoding: c.ep.encoding, Factor: c.factor(),
	}
	c.hold(c.event(p, started), aboutEstimate(p))
	if !c.m.redactor.Enabled() {
		c.emit(c.event(trace.RedactionDisabled{SessionID: c.id, Setting: "redaction.enabled"}, started))
	}
}
