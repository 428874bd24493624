package strategy

import (
	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/message"
)

// longestReply is the maximum length of a reply, in bytes. A reply says little without the
// message before it: "yes, fix all 11", "5 seems easy".
const longestReply = 300

// referredValue is the value of a sentence of the message before a reply, if the reply
// stays in view and the message does not.
const referredValue = 1.6

// mostReferred is the number of items and questions of this message that are worth as
// much as a failure, because the reply names them by number.
const mostReferred = 16

// findReferred sets h.referred to the assistant's message before the reply: before the
// user's last message that stays in view. It sets -1 if there is none.
func (h *History) findReferred(r Request) {
	h.referred = -1
	last := len(r.Visible) - 1
	for last >= 0 && !material.FromUser(&r.Visible[last]) {
		last--
	}
	if last < 0 || !h.order.typed || len(saidIn(&r.Visible[last])) > longestReply {
		return
	}
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		if h.order.since > 0 && s.ID >= h.order.since {
			continue // work on the reply
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
