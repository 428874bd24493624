package compact

import (
	"errors"
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// What a request wants to be kept free for its answer gives way before it is
// refused, down to leastAnswer tokens, or to what is configured. A request that asks for more than the window has room for
// leaves at least half of the room, or leastConversation, to the conversation.
const (
	leastAnswer       = 1024
	leastConversation = 4 * leastAnswer
)

// spare is what the window leaves to a conversation.
type spare struct {
	budget policy.Budget // with all that is kept free for the answer
	lifted policy.Budget // with the least of it
	answer int           // tokens that are kept free for it
}

// spared divides a window for calls whose answer may have so many tokens.
//
// Kept free is what is configured, or what the request asks for, up to half of
// the window: agents ask for the most that a model can write, far above what it
// does write, and must not lose the window to that.
func spared(l policy.Limits, asked int) (s spare, err error) {
	if s.budget, err = l.Budget(); err != nil {
		return s, err
	}
	room := s.budget.Cap + l.MaxOutputTokens
	most := room - min(room/2, leastConversation)
	s.answer = max(l.MaxOutputTokens, min(asked, l.MaxContextTokens/2, most))
	least := max(l.MaxOutputTokens, min(s.answer, leastAnswer, room/2))
	l.MaxOutputTokens = s.answer
	s.budget, err = l.Budget()
	s.lifted = s.budget
	s.lifted.Cap = room - least
	return s, err
}

// allot chooses the budget of the call. A session whose smallest view has
// taken from the answer before goes on doing so.
func (c *call) allot(view *policy.View) {
	if c.last > c.budget.Cap && c.last <= c.ep.lifted.Cap && view.Floor()-view.Fixed+c.fixed > c.budget.Cap {
		c.lift()
	}
}

// lift lets the reserve for the answer give way. It reports whether there was
// any left.
func (c *call) lift() bool {
	if c.budget.Cap >= c.ep.lifted.Cap {
		return false
	}
	c.budget = c.bounded(c.ep.lifted)
	c.res.Budget, c.res.Trigger, c.res.Target = c.budget.Cap, c.budget.Due(c.last), c.budget.Target
	return true
}

// gaveWay lifts the budget where the error is that it does not suffice.
func (c *call) gaveWay(err error) bool {
	return errors.Is(err, ErrInsufficientBudget) && c.lift()
}

// answer says what is left for the answer, where it is less than what is kept
// free for it.
func (c *call) answer() {
	if c.res.After.Total <= c.ep.budget.Cap {
		return
	}
	c.res.Warnings = append(c.res.Warnings, fmt.Sprintf(
		"the view costs %d tokens and cannot cost less: of the %d tokens of the window that are kept free for the answer, %d are left",
		c.res.After.Total, c.ep.answer, max(0, c.ep.answer-(c.res.After.Total-c.ep.budget.Cap))))
}

// deeper is the budget of a compaction that is due: in a session that grows by
// much from one call to the next it goes deeper, so that the next call does not
// compact again.
func (c *call) deeper() policy.Budget {
	if c.last == 0 || c.q.manual {
		return c.budget
	}
	calls := 0 // of the model, since the step before
	for _, m := range c.history[c.s.number(c.history, c.q.owner(), c.ep.engine.Pins).fresh:] {
		if m.Role == message.RoleAssistant {
			calls++
		}
	}
	return c.budget.Deeper((c.res.Before.Total - c.last) / max(calls, 1))
}
