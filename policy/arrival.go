package policy

import (
	"encoding/json"

	"github.com/agentcompact/compact/message"
)

// Arrived returns the first message that came behind the last answer: what no
// call has sent yet, unless [View.Sent] knows better.
func (v *View) Arrived() int {
	for i := len(v.Messages) - 1; i >= 0; i-- {
		if v.Messages[i].Role == message.RoleAssistant {
			return i + 1
		}
	}
	return 0
}

// Call returns the call that part p of message i answers: its name, its
// arguments, and where it stands. It reports false where none is known.
func (v *View) Call(i, p int) (name string, args json.RawMessage, at int, ok bool) {
	c, ok := v.tools().call(i, &v.Messages[i].Parts[p])
	return c.name, c.args, c.at, ok
}

// Saves returns how many tokens an edit of a text saves, and false where it saves
// none, or makes the message longer.
func (v *View) Saves(t *TextEdit) (tokens int, ok bool) {
	return saved(v, t.Index, t.Part, t.Segments)
}

// Edited reports whether part p of message i was edited before.
func (v *View) Edited(i, p int) bool {
	if v.Origins != nil {
		if _, ok := v.Origins(i, p); ok {
			return true
		}
	}
	return v.Masked(i, p)
}
