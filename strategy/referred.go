package strategy

import "github.com/agentcompact/compact/message"

// longestReply is the length of a message that says little without what it replies to, in
// bytes: "yes, fix all 11", "5 seems easy".
const longestReply = 300

// referredValue is the value of a sentence of what such a message replies to, if that
// message stays in view and the other does not.
const referredValue = 1.6

// mostReferred is the number of items and questions of it that are worth as much as a
// failure: the message that stays names them by number.
const mostReferred = 16

// findReferred finds the assistant's message to which the last message of the user that
// stays in view replies.
func (h *History) findReferred(r Request) {
	h.referred = -1
	last := len(r.Visible) - 1
	for last >= 0 && !fromUser(&r.Visible[last]) {
		last--
	}
	if last < 0 || !h.order.typed || len(saidIn(&r.Visible[last])) > longestReply {
		return
	}
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		if h.order.since > 0 && s.ID >= h.order.since {
			continue // work on it
		}
		if s.user() {
			return
		}
		if s.Role == message.RoleAssistant && s.Speaker == "" && s.Text != "" {
			h.referred = i
			return
		}
	}
}
