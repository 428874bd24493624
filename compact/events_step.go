package compact

import (
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// stepTelling is what a call has to say of the step that it makes. Another
// process may take the number of the step at the last moment: the exporters
// hear of it when it is certain. The audit log has it before the commit, and
// says so where the number was lost.
type stepTelling struct {
	held    []func(step int) trace.Event // what led to the step
	outcome func(step int) []trace.Event // what the step did; nil = nothing yet
	said    []trace.Event                // what the log has under the number below
	number  int
	filed   map[string]trace.Event // by span: what the log has in place of an event whose text is in a file
}

// hold keeps an event until the number of the step is certain.
func (c *call) hold(say func(step int) trace.Event) {
	if !c.q.dry && !c.q.observe {
		c.telling.held = append(c.telling.held, say)
	}
}

// stepLines returns what the audit log must have of this call before the step
// is committed under a number.
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

// settle says what was held: the number of the step is certain, or it is 0, for
// there is no step.
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

// lost says that the number of the last lines is another's. The exporters have
// not heard of it.
func (c *call) lost(number int) {
	e := trace.Error{SessionID: c.id, Step: number, ErrorType: "CommitLost", Fallback: "next number", Message: errTaken.Error()}
	c.events = append(c.events, c.auditLine(c.event(e, c.m.now())))
}

// nothingDone takes back what was to be told of a step that failed.
func (c *call) nothingDone() {
	c.telling.outcome, c.telling.said, c.did = nil, nil, nil
}

// anew gives up what was decided: a step of this lane came that the decision
// had not seen.
func (c *call) anew(before Result) {
	c.telling.outcome = nil
	c.settle(0)
	e := trace.Error{SessionID: c.id, ErrorType: "CommitLost", Fallback: "decide anew", Message: errStale.Error()}
	c.emit(c.event(e, c.m.now()))
	*c.res, c.summary, c.did = before, nil, nil
}
