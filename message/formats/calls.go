package formats

import (
	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// call has the names of the members of a call in a log.
type call struct{ id, name, args string }

// calls writes the calls of an assistant message of chat completions, whose
// object is already open.
func (c *composer) calls(unit int, list []jsonscan.Span, names call) {
	for k, at := range list {
		o := objectAt(c.data, at)
		c.text(opening(k, `,"tool_calls":[`) + `{"type":"function"`)
		c.members(unit, o, names.id, "id")
		c.text(`,"function":{`)
		c.members(unit, o, names.name, "name", names.args, "arguments")
		c.text("}}")
	}
	if len(list) > 0 {
		c.text("]")
	}
}

// madeIn returns a function that writes a new message as one element. The
// element is the message's text as a JSON string, between two texts that around
// returns for its role.
func madeIn(around func(role message.Role) (before, after string)) func(dst []byte, m message.Message) []byte {
	return func(dst []byte, m message.Message) []byte {
		before, after := around(m.Role)
		dst = jsonscan.AppendQuote(append(dst, before...), m.Text())
		return append(dst, after...)
	}
}
