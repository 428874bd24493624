package compact

import (
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// teller holds the telemetry of a call: the ids of its events, and the events to
// emit.
type teller struct {
	trace, span, root string
	sessionBegan      time.Time // start of the session, if it has one trace
	callers           bool      // the trace belongs to the caller
	working           time.Time // start of the current phase

	events  []redact.Text // lines of this call for the audit log, written with the commit
	telling stepTelling
	voids   []string // spans in the audit log of a step that failed, until the event of its failure

	parent  trace.Event // event of the whole call
	logged  int         // step in the line of parent
	storing bool        // its step is being committed
	saved   int         // tokens that this call adds to the session's savings
}

// stepTelling is the part of an outcome whose events are emitted with a step.
// Another process can take the number of the step at the last moment, so exporters
// get the events only when the number is final. The audit log gets them before the
// commit, and another event if the number was lost.
type stepTelling struct {
	decided *decision       // nil = none, or the event is already emitted
	stored  *archival       // nil = none
	made    *reduce.Outcome // nil = none

	said   []trace.Event // events that the log has under number
	number int
	filed  map[string]trace.Event // by span: the log's form of an event whose text is in a file
}

// archival is a removal of text to the archive, at its time.
type archival struct {
	trace.Archival
	began, ended time.Time
}

// tells reports whether the call emits events of its own. A dry run emits no events,
// and an observed call emits other events.
func (c *call) tells() bool { return !c.q.dry && !c.q.observe }

// tellStored schedules the event of an archival, to be emitted with the step.
func (c *call) tellStored(a *archival) {
	if c.tells() {
		c.telling.stored = a
	}
}

// stepEvents derives the events of a step from the actions of the call: its decision,
// its archival and its changes. No event of a step is made elsewhere.
func (c *call) stepEvents(number int) (events []trace.Event) {
	t := &c.telling
	if t.decided != nil {
		events = append(events, c.decisionEvent(t.decided, number))
	}
	if a := t.stored; a != nil {
		p := a.Archival
		p.Step = number
		events = append(events, c.eventAt(p, a.began, a.ended))
	}
	if t.made != nil {
		events = append(events, c.outcomeEvents(t.made, number)...)
	}
	return events
}

// stepLines returns the lines that the audit log must hold before the step is
// committed under a number.
func (c *call) stepLines(number int) []redact.Text {
	t := &c.telling
	t.number, t.filed = number, map[string]trace.Event{}
	t.said = c.stepEvents(number)
	lines := c.takeEvents()
	for _, e := range t.said {
		if short, ok := t.filed[e.SpanID]; ok {
			e = short
		}
		lines = append(lines, c.auditLine(e))
	}
	return lines
}

// settle emits the events of a step with its final number, or with 0 if there is no
// step. A step also discards the preparations for it, and marks the summary that it
// used.
func (c *call) settle(number int) {
	if number > 0 {
		c.lane.flights.Settle()
		c.lane.ahead, c.lane.reading, c.lane.lost = nil, nil, 0
	}
	t := &c.telling
	if t.decided == nil && t.stored == nil && t.made == nil {
		return
	}
	if t.said == nil || t.number != number {
		c.events = c.stepLines(number)
	}
	for _, e := range t.said {
		c.export(e)
	}
	c.telling = stepTelling{}
}

// void returns the ids of the spans in the audit log of a step that is not committed.
// Exporters never got these spans.
func (t *stepTelling) void() (spans []string) {
	for _, e := range t.said {
		spans = append(spans, e.SpanID)
	}
	t.said = nil
	return spans
}

// lost reports that another process took the number of the last lines.
func (c *call) lost(number int) {
	e := trace.Error{SessionID: c.id, Step: number, ErrorType: "CommitLost", Fallback: "next number", Message: errTaken.Error(), Voids: c.telling.void()}
	c.emit(c.event(e, c.m.now()))
}

// nothingDone discards the changes of a step that failed. The events of its decision
// and its archival are emitted with the number 0; the event of the failure voids
// their earlier lines.
func (c *call) nothingDone() {
	c.voids = c.telling.void()
	c.telling.made, c.did = nil, nil
}

// anew discards the decision and its events, because the call decided without a step
// of its lane that another process committed.
func (c *call) anew(before Result) {
	e := trace.Error{SessionID: c.id, ErrorType: "CommitLost", Fallback: "decide anew", Message: errStale.Error(), Voids: c.telling.void()}
	c.telling = stepTelling{}
	c.emit(c.event(e, c.m.now()))
	*c.res = before
}
