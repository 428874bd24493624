package compact

import (
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

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
// step. After a step it also discards the preparations for the step, and the
// summary that the step used.
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
	c.telling = stepEventState{}
}

// lost reports that another process took the step number of the last lines.
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

// anew discards the decision and its events, because the decision did not include a
// step of the lane that another process committed.
func (c *call) anew(before Result) {
	e := trace.Error{SessionID: c.id, ErrorType: "CommitLost", Fallback: "decide anew", Message: errStale.Error(), Voids: c.telling.void()}
	c.telling = stepEventState{}
	c.emit(c.event(e, c.m.now()))
	*c.res = before
}
