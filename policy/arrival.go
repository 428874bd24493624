package policy

import (
	"encoding/json"

	"github.com/agentcompact/compact/message"
)

// Arrived returns the index of the first message after the last assistant
// message. No call has sent the messages from there on, unless [View.Sent] says
// otherwise.
func (v *View) Arrived() int {
	for i := len(v.Messages) - 1; i >= 0; i-- {
		if v.Messages[i].Role == message.RoleAssistant {
			return i + 1
		}
	}
	return 0
}

// Call returns the tool call that part p of message i answers: its name, its arguments,
// and the index of the message with the call. ok is false if no call is known.
func (v *View) Call(i, p int) (name string, args json.RawMessage, at int, ok bool) {
	c, ok := v.tools().Call(i, &v.Messages[i].Parts[p])
	return c.Name, c.Args, c.At, ok
}

// Saves returns how many tokens a text edit saves. ok is false if the edit saves no
// tokens or makes the message longer.
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
