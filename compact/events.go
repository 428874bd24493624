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
	if !c.emitsEvents() || c.s == nil {
		return
	}
	c.events = append(c.events, c.auditLine(e))
	c.export(e)
}

// hold passes an event to the exporters, and holds its line back.
func (c *call) hold(e trace.Event, about any) {
	if !c.emitsEvents() || c.s == nil {
		return
	}
	c.unmade = append(c.unmade, heldEvent{len(c.events), e, about})
	c.events = append(c.events, redact.Text{})
	c.export(e)
}

// makeHeld makes the lines that were held back.
func (c *call) makeHeld() {
	for _, h := range c.unmade {
		c.events[h.at] = c.auditLine(h.event)
	}
	c.unmade = nil
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
	c.makeHeld()
	lines := c.events
	c.events = nil
	return lines
}

// traceInfo returns the name and times of the trace. A zero end means that the
// trace is open.
func (c *call) traceInfo(name string, start, end time.Time) *trace.TraceInfo {
	return c.m.traceInfo(name, c.label, c.agent, c.ep.name, start, end)
}

func (c *call) policyInfo() trace.PolicyInfo {
	p := c.ep.cfg.Policy
	return trace.PolicyInfo{
		TriggerPct: p.TriggerPct, TargetPct: p.TargetPct, HardCapBuffer: p.HardCapBuffer,
		KeepRecentTurns: p.KeepRecentTurns, KeepToolIOPairs: p.KeepToolIOPairs, Strategy: p.Strategy, Preset: c.ep.cfg.Preset,
	}
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

// redactJSON redacts JSON with the secrets that the session knows.
func (c *call) redactJSON(raw []byte) redact.Text {
	if c.s == nil {
		return c.m.redactor.JSON(raw)
	}
	return c.s.redactor.JSON(raw)
}

// tellLater emits an event that happened after the call to the exporters and
// the audit log.
func (c *call) tellLater(p trace.Payload, start time.Time) {
	c.noteEvent(c.event(p, start))
}

// noteEvent passes an event to the exporters and the audit log. It is safe for
// concurrent use.
func (c *call) noteEvent(e trace.Event) {
	c.export(e)
	c.s.audit.add(c.auditLine(e))
}
