package compact

import (
	"errors"
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// The reserve for an answer shrinks before a request fails, down to leastAnswer tokens or
// to the configured size. A request that asks for a larger answer than the window can hold
// leaves at least half of the room, or leastConversation, to the conversation.
const (
	leastAnswer       = 1024
	leastConversation = 4 * leastAnswer
)

// spare holds the budgets that a window leaves for a conversation.
type spare struct {
	budget policy.Budget // with the full reserve for the answer
	lifted policy.Budget // with the smallest reserve
	answer int           // full reserve in tokens
}

// spared divides a window for calls that ask for an answer of up to asked
// tokens.
//
// The reserve is the configured size or the requested size, up to half of the window.
// Agents request the maximum answer of a model, far above its real answers, and must not
// lose the window to that.
func spared(cfg *Config, window, asked int) (s spare, err error) {
	reserve := cfg.MaxOutputTokens
	if s.budget, err = cfg.Policy.Budget(window, reserve); err != nil {
		return s, err
	}
	room := s.budget.Cap + reserve
	most := room - min(room/2, leastConversation)
	s.answer = max(reserve, min(asked, window/2, most))
	least := max(reserve, min(s.answer, leastAnswer, room/2))
	s.budget, err = cfg.Policy.Budget(window, s.answer)
	s.lifted = s.budget
	s.lifted.Cap = room - least
	return s, err
}

// allot chooses the budget of the call. If the smallest view of a session has used a
// part of the reserve before, later views may use it, too.
func (c *call) allot(view *policy.View) {
	if c.last > c.budget.Cap && c.last <= c.ep.lifted.Cap && view.Floor()-view.Fixed+c.fixed > c.budget.Cap {
		c.lift()
	}
}

// lift reduces the reserve for the answer to its minimum. It reports whether it
// was larger.
func (c *call) lift() bool {
	if c.budget.Cap >= c.ep.lifted.Cap {
		return false
	}
	c.budget = c.bounded(c.ep.lifted)
	c.res.Budget, c.res.Trigger, c.res.Target = c.budget.Cap, c.budget.Due(c.last), c.budget.Target
	return true
}

// gaveWay raises the budget if the error is ErrInsufficientBudget, and reports whether
// the run can be tried again with the raised budget.
func (c *call) gaveWay(err error) bool {
	return errors.Is(err, ErrInsufficientBudget) && c.lift()
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
	return c.budget.Deeper((c.res.Before.Total - c.last) / max(calls, 1))
}
