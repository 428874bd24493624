package compact

import (
	"slices"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// parentLine returns the line of the event of the whole call. For a call that changed
// nothing, it leaves out the lines whose statements an earlier line has, and refers to that
// line.
func (c *call) parentLine(p trace.Preflight, err error) redact.Text {
	if err != nil || c.storing || len(c.unmade) != 2 || p.Triggered {
		return c.auditLine(c.parent)
	}
	as := &trace.AsBefore{TEst: c.decision.TEst, Factor: c.factor()}
	if as.Decision, as.Estimate = c.leaveOut(1), c.leaveOut(0); as.Decision != "" {
		as.Candidates = c.decision.Candidates
	}
	if as.Decision == "" && as.Estimate == "" {
		return c.auditLine(c.parent)
	}
	p.AsBefore = as
	if p.Before != nil && p.After != nil && *p.Before == *p.After {
		p.After = nil
	}
	for part, took := range p.Timings {
		if took == 0 {
			delete(p.Timings, part)
		}
	}
	e := c.parent
	e.Data = c.redactJSON(trace.Encode(p))
	return c.auditLine(e)
}

// leaveOut removes the held line i if an earlier line states the same, and returns the span of
// that line. Lines after i must have been tried before.
func (c *call) leaveOut(i int) string {
	h := c.unmade[i]
	span := c.s.stated.span(h.about)
	if span == "" {
		return ""
	}
	c.events = slices.Delete(c.events, h.at, h.at+1)
	c.unmade = slices.Delete(c.unmade, i, i+1)
	for k := i; k < len(c.unmade); k++ {
		c.unmade[k].at--
	}
	return span
}
