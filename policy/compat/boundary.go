package compat

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// steering is the prefix of user messages that the program around an agent sends to
// steer the agent. Such messages are not requests.
const steering = "[steering]"

// AfterRequest returns the index at which the work on the current request begins: the
// index after the last user message that does not begin with "[steering]", or 0 if there
// is none. The preset "gateway" uses it as Since of [policy.Mask], [History] and
// [Groups].
func AfterRequest(v *policy.View) int {
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

// boundary returns what since returns for v, clamped to the view, or otherwise
// if since is nil.
func boundary(since func(*policy.View) int, v *policy.View, otherwise int) int {
	if since == nil {
		return otherwise
	}
	return min(max(since(v), 0), len(v.Messages))
}
