package compact

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// startTrace sets the ids of this call's events, from the caller's trace if the
// context carries one.
func (c *call) startTrace(ctx context.Context) {
	c.span = trace.NewSpanID()
	if id, parent, ok := trace.FromContext(c.m.pipe.Join(ctx)); ok {
		c.trace, c.root, c.callers = id, parent, true
		return
	}
	if c.m.cfg.Trace.PerSession {
		c.trace, c.sessionBegan = trace.SessionTraceID(c.id), c.s.beginTrace(c.began)
		return
	}
	c.trace = trace.NewTraceID()
}

// event returns the event of a payload that began at start and ends now.
func (c *call) event(p trace.Payload, start time.Time) trace.Event {
	return c.eventAt(p, start, c.m.now())
}

func (c *call) eventAt(p trace.Payload, start, end time.Time) trace.Event {
	e := trace.New(p, c.redactJSON(trace.Encode(p)), start, end)
	e.TraceID, e.ParentID, e.Session, e.Agent = c.trace, c.span, c.label, c.agent
	return e
}

// emit passes an event to the exporters at once, and to the audit log with the
// next commit. A dry run emits nothing, and an observed call emits its own
// events.
func (c *call) emit(e trace.Event) {
	if !c.tells() || c.s == nil {
		return
	}
	c.events = append(c.events, c.auditLine(e))
	c.export(e)
}

// export passes an event to the exporters.
func (c *call) export(e trace.Event) {
	if c.m.cfg.Trace.PerSession && !c.callers {
		e.Trace = c.traceInfo("", c.sessionBegan, time.Time{})
	}
	c.m.pipe.Emit(e)
}

// auditLine returns the line of an event in events.jsonl. Its data is redacted
// already; redacting the whole line also covers the ids of a caller's trace.
// The names of the session and its agents stay: they hold no secret.
func (c *call) auditLine(e trace.Event) redact.Text {
	return c.redactJSON(e.AppendJSON(nil))
}

// takeEvents returns the pending lines of this call, and clears them.
func (c *call) takeEvents() []redact.Text {
	lines := c.events
	c.events = nil
	return lines
}

// traceInfo returns the name and times of the trace. A zero end means that the
// trace is open.
func (c *call) traceInfo(name string, start, end time.Time) *trace.TraceInfo {
	return c.m.traceInfo(name, c.label, c.agent, c.ep.name, start, end)
}

func (c *call) emitEstimate(started time.Time) {
	b := c.res.Before
	c.emit(c.event(trace.TokenEstimate{
		SessionID: c.id, Model: c.ep.name, TEst: b.Total, MaxTokens: c.ep.window, Budget: c.budget.Cap,
		Breakdown: trace.Breakdown{
			System: b.System, Developer: b.Developer, ToolsSchema: b.ToolsSchema,
			Messages: b.Total - b.System - b.Developer - b.ToolsSchema,
		},
		Messages: b.Messages, HistoryIn: len(c.history), Encoding: c.ep.encoding, Factor: c.factor(),
	}, started))
	if !c.m.redactor.Enabled() {
		c.emit(c.event(trace.RedactionDisabled{SessionID: c.id, Setting: "redaction.enabled"}, started))
	}
}

func (c *call) policyInfo() trace.PolicyInfo {
	p := c.ep.cfg.Policy
	return trace.PolicyInfo{
		TriggerPct: p.TriggerPct, TargetPct: p.TargetPct, HardCapBuffer: p.HardCapBuffer,
		KeepRecentTurns: p.KeepRecentTurns, KeepToolIOPairs: p.KeepToolIOPairs, Strategy: p.Strategy, Preset: c.ep.cfg.Preset,
	}
}

// decision is the decision of a call, with every number and the limit that it was
// compared with.
type decision struct {
	trace.TriggerDecision
	began, ended time.Time
}

// emitDecision emits the decision of this attempt, once. The decision to compact is
// emitted with its step, because the number of the step is not final yet.
func (c *call) emitDecision(started time.Time, view *policy.View) {
	if c.decision != nil {
		return
	}
	c.decision = c.decided(started, view)
	switch {
	case !c.res.Triggered:
		c.emit(c.decisionEvent(c.decision, 0))
	case c.tells():
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

// checks returns the comparisons behind a decision; due is the number of tokens from
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

// prunable counts the input messages in a view that the stages of this call can
// remove at most.
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

// kept counts the pinned messages, summaries, turns and tool pairs of a view.
func kept(v *policy.View) trace.Kept {
	k := trace.Kept{RecentTurns: len(v.Turns)}
	for i := range v.Messages {
		if v.Pinned[i] {
			k.Pinned++
		}
		if v.Summary(i) {
			k.Summary++
		}
	}
	for _, r := range v.Rounds {
		k.ToolPairs += r.Pairs
	}
	return k
}

func (c *call) emitError(kind, fallback string, err error) {
	e := trace.Error{SessionID: c.id, ErrorType: kind, Cause: causeOf(err), Fallback: fallback, Message: err.Error(), Voids: c.voids}
	c.voids = nil
	var b *policy.BudgetError
	if errors.As(err, &b) {
		e.Tokens, e.Budget = b.Tokens, b.Budget
		e.Guidance = b.Guidance()
		for _, l := range b.Largest {
			e.Largest = append(e.Largest, trace.ResultSize{Index: l.Index, Tokens: l.Tokens, Role: string(l.Role)})
		}
	}
	c.emit(c.event(e, c.working))
}

func (c *call) emitDiscard(p reduce.Pass) {
	e := trace.Error{SessionID: c.id, ErrorType: "StageFailed", Cause: causeOf(p.Err), Stage: p.Stage, Message: p.Err.Error()}
	if p.Discarded {
		e.ErrorType = "StageDiscarded"
	}
	c.emit(c.eventAt(e, p.Started, p.Started.Add(p.Elapsed)))
}

// fail resets the result to the result of a call without effect, and reports the error.
func (c *call) fail(err error) {
	c.undo()
	if c.s == nil {
		return
	}
	c.emitError(kindOf(err), trace.FallbackNone, err)
}

// kindOf returns the stable name of an error in events.
func kindOf(err error) string {
	switch {
	case errors.Is(err, ErrInsufficientBudget):
		return "InsufficientBudget"
	case errors.Is(err, ErrArchiveFailed):
		return "ArchiveFailed"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "Cancelled"
	case errors.Is(err, ErrInternal):
		return "Internal"
	}
	return "Error"
}

// logParent creates the event of the whole call. Its line in the audit log is
// written with the commit, so that no committed step lacks it. After a lost
// race it is written again, with the final number of the step.
func (c *call) logParent(err error) {
	dropped, lost := c.m.lostEvents()
	if err == nil {
		c.price() // the log must hold the bill before the step is committed
	}
	p := trace.Preflight{
		SessionID: c.id, Agent: c.q.agent, Model: c.ep.name, Triggered: c.res.Triggered || err != nil && c.decision != nil && c.decision.Triggered, Manual: c.q.manual, Reason: c.res.Reason, Step: c.res.Step,
		TokensIn: c.res.TokensIn, TokensBefore: c.res.Before.Total, TokensAfter: c.res.After.Total, MaxTokens: c.ep.window, Budget: c.budget.Cap,
		MessagesIn: len(c.history), MessagesBefore: c.res.Before.Messages, MessagesAfter: len(c.res.Messages),
		SessionMasked: c.res.MaskedCount, SessionTrunc: c.res.TruncatedCount, SessionPruned: c.res.SummarizedCount + c.res.DroppedCount,
		Replayed: c.res.Replayed, Timings: c.timings(), EventsDropped: dropped, EventsLost: lost,
		ReductionStage: string(c.res.ReductionStage), CallStage: string(c.res.CallStage), InvariantStatus: c.res.InvariantStatus,
		Unarchived: c.unarchived && c.res.Triggered && err == nil,
	}
	if c.res.Before.Total > 0 {
		p.Before, p.After = rolesOf(&c.res.Before), rolesOf(&c.res.After)
	}
	p.SessionSaved = c.s.savedWith(c)
	if b := c.res.Bill; b != nil && err == nil {
		p.Bill = &trace.CallBill{
			Prices: b.Prices, Relative: b.Relative, EstimatedUSD: b.EstimatedUSD, WholeUSD: b.WholeUSD, SummaryUSD: b.SummaryUSD,
			SessionUSD: b.Session.EstimatedUSD, SessionWhole: b.Session.WholeUSD, SessionSummary: b.Session.SummaryUSD,
			SummaryEstimated: b.SummaryEstimatedUSD, SummaryPrices: b.SummaryPrices, SessionEstimated: b.Session.SummaryEstimatedUSD,
		}
	}
	if did := c.did; did != nil {
		p.PrunedCount, p.SummarizedCount, p.MaskedCount, p.TruncatedCount = did.pruned(), did.summarized, did.masked, did.truncated
	}
	if err != nil {
		p.ErrorType = kindOf(err)
	}
	logged := c.parent.SpanID != "" && c.logged == c.res.Step
	e := c.event(p, c.began)
	e.SpanID, e.ParentID = c.span, c.root
	c.parent, c.logged = e, c.res.Step
	if !logged {
		c.events = append(c.events, c.auditLine(e))
	}
}

// logStep creates the event of a call before its step is committed, so the
// duration of the commit is unknown.
func (c *call) logStep() {
	c.storing = true
	defer func() { c.storing = false }()
	c.logParent(nil)
}

// rolesOf converts layers for events.
func rolesOf(l *Layers) *trace.RoleLayers {
	return &trace.RoleLayers{
		System: l.System, Developer: l.Developer, ToolsSchema: l.ToolsSchema, Summary: l.Summary,
		User: l.User, Assistant: l.Assistant, ToolResults: l.ToolResults, Overhead: l.Overhead,
	}
}

// savedWith returns the tokens that the session has saved, including this call,
// which is counted once.
func (s *session) savedWith(c *call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved += c.res.TokensIn - c.res.After.Total - c.saved
	c.saved = c.res.TokensIn - c.res.After.Total
	return s.saved
}

func (c *call) timings() map[string]float64 {
	t := c.res.Timing
	ms := map[string]float64{
		"ledger": trace.Milliseconds(t.Ledger), "replay": trace.Milliseconds(t.Replay), "count": trace.Milliseconds(t.Count),
		"stages": trace.Milliseconds(t.Stages), "summarize": trace.Milliseconds(t.Summarize), "archive": trace.Milliseconds(t.Archive),
		"commit": trace.Milliseconds(t.Commit), "lane_wait": trace.Milliseconds(t.LaneWait),
		"archive_wait": trace.Milliseconds(t.ArchiveWait), "commit_wait": trace.Milliseconds(t.CommitWait),
		"place_wait": trace.Milliseconds(t.PlaceWait),
	}
	if c.storing {
		delete(ms, "commit")
	}
	return ms
}

// finish ends the trace of the call. Its unwritten lines wait for the next
// commit, so that a call without a compaction never waits for a disk.
func (c *call) finish(err error) {
	c.res.Timing.Total = c.m.now().Sub(c.began)
	c.sayChanged()
	c.sayKeys()
	if c.s == nil || c.q.dry {
		return
	}
	c.settle(0)
	c.logParent(err)
	switch {
	case c.callers: // a trace of several calls is named after the session
		c.parent.Trace = c.traceInfo("", c.began, c.m.now())
	case c.m.cfg.Trace.PerSession:
		c.parent.Trace = c.traceInfo("", c.sessionBegan, time.Time{})
		c.s.traced(c.label, c.agent, c.ep.name)
	default:
		c.parent.Trace = c.traceInfo(c.story(err), c.began, c.m.now())
	}
	c.m.pipe.Emit(c.parent)
	c.leaveEvents()
}
