package policy

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// A Boundary says where the work on the current request begins: what stands
// before the returned index is the conversation, what stands from there on are
// the rounds of the running loop. It returns 0 to len(v.Messages).
type Boundary func(v *View) int

// steering begins the user messages by which the program that runs an agent
// steers it; they are no requests.
const steering = "[steering]"

// AfterRequest is the boundary behind the last request: the last user message
// that does not begin with "[steering]". It is 0 where there is none.
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

// at returns the boundary in v, and otherwise where there is none.
func (b Boundary) at(v *View, otherwise int) int {
	if b == nil {
		return otherwise
	}
	return min(max(b(v), 0), len(v.Messages))
}
