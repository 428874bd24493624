package compact

import (
	"fmt"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// sent records the messages of the view, so that their usage can be observed.
func (c *call) sent(msgs []message.Message) {
	c.res.UpperBound = c.upperBound(c.res.Messages, c.res.After.Total)
	c.answer()
	if !c.q.dry && !c.q.observe {
		c.res.observe.later = c.happened
	}
	if c.ep.exact || c.q.dry {
		return
	}
	id := token.RequestID(msgs, c.q.tools)
	c.ep.calibrator.Sent(id, c.mix(msgs))
	c.res.observe.epoch, c.res.observe.id, c.res.observe.fixed = c.ep, id, c.q.fixed
}

// fail resets the result to the result of a call without effect, and reports the error.
func (c *call) fail(err error) {
	c.undo()
	if c.s == nil {
		return
	}
	if !c.q.dry {
		c.res.observe.later, c.res.observe.failed = c.happened, true // a caller can send the history unchanged
		c.billUnchanged()
	}
	c.emitError(kindOf(err), trace.FallbackNone, err)
}

// finish ends the trace of the call. Its unwritten lines wait for the next
// commit, so that a call without a compaction never waits for a disk.
func (c *call) finish(err error) {
	c.res.Timing.Total = c.m.since(c.began)
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
		c.title = c.story(err)
		c.parent.Trace = c.traceInfo(c.title, c.began, c.m.now())
	}
	c.m.pipe.Emit(c.parent)
	c.leaveEvents()
}

// leaveEvents leaves the lines of a call to the next commit, or to a background
// writer if the log is due.
func (c *call) leaveEvents() {
	a, held := c.s.audit, c.unmade
	n := a.add(c.takeEvents()...)
	c.s.stated.add(held)
	if n > 0 {
		c.s.stated.forget()
		c.res.Warnings = append(c.res.Warnings, fmt.Sprintf("the archive accepts no lines of the audit log: the %d oldest waiting lines were dropped", n))
	}
	if a.isDue() {
		c.m.backlog.flush(a)
	}
}
