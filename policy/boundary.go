package policy

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// A Boundary returns the index at which the work on the current request begins,
// from 0 to len(v.Messages). The messages before it are the conversation; those
// from it on are the rounds of the running loop.
type Boundary func(v *View) int

// steering is the prefix of user messages with which the program that runs an
// agent steers it. Such messages are not requests.
const steering = "[steering]"

// AfterRequest is a [Boundary]: it returns the index after the last user
// message that does not begin with "[steering]", or 0 if there is none.
func AfterRequest(v *View) int {
	for i := len(v.Messages) - 1; i >= 0; i-- {
		if m := &v.Messages[i]; m.IsUser() && !isSteering(m) {
			return i + 1
		}
	}
	return 0
}

func isSteering(m *message.Message) bool {
	return m.IsUser() && strings.HasPrefix(m.Text(), steering)
}

// at returns the boundary in v, clamped to the view, or otherwise if b is nil.
func (b Boundary) at(v *View, otherwise int) int {
	if b == nil {
		return otherwise
	}
	return min(max(b(v), 0), len(v.Messages))
}
