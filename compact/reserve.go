package compact

import (
	"errors"
	"fmt"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
)

// allot chooses the budget of the call. If the smallest view of a session has used a
// part of the reserve before, later views may use it, too.
func (c *call) allot(view *policy.View) {
	if c.last > c.budget.Cap && c.last <= c.ep.lifted.Cap && view.Floor()-view.Fixed+c.fixed > c.budget.Cap {
		c.lowerReserve()
	}
}

// lowerReserve reduces the reserve for the answer to its minimum. It reports whether it
// was larger.
func (c *call) lowerReserve() bool {
	if c.budget.Cap >= c.ep.lifted.Cap {
		return false
	}
	c.budget = c.bounded(c.ep.lifted)
	c.res.Budget, c.res.Trigger, c.res.Target = c.budget.Cap, c.budget.Due(c.last), c.budget.Target
	return true
}

// raiseBudget raises the budget if the error is ErrInsufficientBudget, and reports whether
// the run can be tried again with the raised budget.
func (c *call) raiseBudget(err error) bool {
	return errors.Is(err, ErrInsufficientBudget) && c.lowerReserve()
}

// answer warns if the room for the answer is smaller than its reserve.
func (c *call) answer() {
	if c.res.After.Total <= c.ep.budget.Cap {
		return
	}
	c.res.Warnings = append(c.res.Warnings, fmt.Sprintf(
		"the view costs %d tokens and cannot cost less: of the %d tokens reserved for the answer, %d are left",
		c.res.After.Total, c.ep.answer, max(0, c.ep.answer-(c.res.After.Total-c.ep.budget.Cap))))
}

// deeper returns the budget of a compaction that is due. In a session that
// grows fast, its target is lower, so that the next call does not compact
// again.
func (c *call) deeper() policy.Budget {
	if c.last == 0 || c.q.manual {
		return c.budget
	}
	calls := 0 // model calls since the previous step
	for _, m := range c.history[c.s.number(c.history, c.q.owner(), c.ep.engine.Pins).fresh:] {
		if m.Role == message.RoleAssistant {
			calls++
		}
	}
	return c.budget.Deeper((c.res.Before.Total - c.unsent - c.last) / max(calls, 1))
}

// from returns least, and the elements of a list that are greater.
func from(list []int, least int) []int {
	out := []int{least}
	for _, n := range list {
		if n > least {
			out = append(out, n)
		}
	}
	return out
}

// narrowed returns an engine that applies only the offer, and reduces new results.
func narrowed(e *reduce.Engine, o policy.Offer) *reduce.Engine {
	n := *e
	n.Keep, n.Steps = o.Keep, nil
	for _, s := range e.Steps {
		mask, isMask := s.Stage.(policy.Mask)
		media, isMedia := s.Stage.(policy.Media)
		switch {
		case s.Stage.Name() == tidy.StageName:
			n.Steps = append(n.Steps, s) // results of this call are reduced now or never
			continue
		case isMedia && (media.Deep || o.Cut && o.Mask == 0):
			continue
		case isMedia:
			media.Turns = o.Mask
			if !o.Cut {
				media.Turns = o.Keep.Turns
			}
			s.Stage = media
		case isMask && o.Cut && o.Mask == 0:
			continue
		case isMask:
			mask.Turns = o.Mask
			if !o.Cut {
				mask.Turns = o.Keep.Turns
			}
			s.Stage = mask
		case !o.Cut || s.Stage.Name() != summarize.StageName:
			continue
		}
		s.Goal = policy.All
		n.Steps = append(n.Steps, s)
	}
	return &n
}

// aimed returns the budget of a compaction that is due. only selects the steps that
// run; with an offer, the target is the offer's level.
func (c *call) aimed(only policy.When) policy.Budget {
	b := c.aiming(c.deeper(), only)
	if c.offer != nil {
		b.Target = c.offer.Level
	}
	return b
}
