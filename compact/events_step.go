package compact

import (
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// stepTelling holds the events of a step that is being committed. Another
// process can take its number at the last moment, so exporters get the events
// only when the number is certain. The audit log gets them before the commit,
// and an event if the number was lost.
type stepTelling struct {
	held    []func(step int) trace.Event // events before the step
	outcome func(step int) []trace.Event // events of the outcome; nil = none yet
	said    []trace.Event                // events that the log has under number
	number  int
	filed   map[string]trace.Event // by span: the log's form of an event whose text is in a file
}

// hold holds an event until the number of the step is certain.
func (c *call) hold(say func(step int) trace.Event) {
	if !c.q.dry && !c.q.observe {
		c.telling.held = append(c.telling.held, say)
	}
}

// stepLines returns the lines that the audit log must hold before the step is
// committed under a number.
func (c *call) stepLines(number int) []redact.Text {
	t := &c.telling
	t.said, t.number, t.filed = nil, number, map[string]trace.Event{}
	for _, say := range t.held {
		t.said = append(t.said, say(number))
	}
	if t.outcome != nil {
		t.said = append(t.said, t.outcome(number)...)
	}
	lines := c.takeEvents()
	for _, e := range t.said {
		if short, ok := t.filed[e.SpanID]; ok {
			e = short
		}
		lines = append(lines, c.auditLine(e))
	}
	return lines
}

// settle emits the held events with the final number of the step, or with 0 if
// there is no step. A step also ends what was prepared for it, and marks the
// summary that it took as used.
func (c *call) settle(number int) {
	if number > 0 {
		c.lane.flights.Settle()
		c.lane.ahead, c.lane.reading, c.lane.lost = nil, nil, 0
	}
	t := &c.telling
	if len(t.held) == 0 && t.outcome == nil {
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

// void returns the ids of the spans that the audit log holds of a step that is not
// committed. Exporters never got them.
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

// nothingDone discards the outcome of a step that failed. Held events stay, and
// are emitted with the number 0; the event of the failure voids their lines.
func (c *call) nothingDone() {
	c.voids = c.telling.void()
	c.telling.outcome, c.did = nil, nil
}

// anew discards the decision and its events, because it has not seen a step of its
// lane that others committed.
func (c *call) anew(before Result) {
	e := trace.Error{SessionID: c.id, ErrorType: "CommitLost", Fallback: "decide anew", Message: errStale.Error(), Voids: c.telling.void()}
	c.telling = stepTelling{}
	c.emit(c.event(e, c.m.now()))
	*c.res, c.summary, c.did = before, nil, nil
}
