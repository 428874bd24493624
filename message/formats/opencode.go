package formats

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// The export of an OpenCode session is one document with a list "messages" of
// {"info":…,"parts":[…]}. A part of the type tool holds a call and its result. A
// message with calls becomes one message of the model and one for each result.

func isOpenCode(s *source) bool {
	return s.doc.is("messages", '[') && strings.HasPrefix(s.doc.in("info").text("id"), "ses_")
}

func readOpenCode(s *source) (*File, error) {
	s.elements(s.doc.by["messages"])
	c := s.composer()
	c.text(`{"messages":[`)
	for i, o := range s.at {
		c.openCode(i, o.in("info").text("role"), o)
	}
	c.text("]}")
	return newLog("opencode", openai.Wire, c, s.list, madeIn(madeOpenCode))
}

func (c *composer) openCode(unit int, role string, o object) {
	var texts, calls []object
	for _, at := range o.list("parts") {
		switch p := objectAt(c.data, at); p.text("type") {
		case "text":
			texts = append(texts, p)
		case "tool":
			calls = append(calls, p)
		}
	}
	if role == "" || len(texts)+len(calls) == 0 {
		return
	}
	c.item(unit)
	c.text(`{"role":"` + role + `","content":`)
	for k, p := range texts {
		c.text(opening(k, "[") + `{"type":"text"`)
		c.members(unit, p, "text", "text")
		c.text("}")
	}
	if len(texts) == 0 {
		c.text("null")
	} else {
		c.text("]")
	}
	for k, p := range calls {
		c.text(opening(k, `,"tool_calls":[`) + `{"type":"function"`)
		c.members(unit, p, "callID", "id")
		c.text(`,"function":{`)
		c.members(unit, p, "tool", "name")
		c.members(unit, p.in("state"), "input", "arguments")
		c.text("}}")
	}
	if len(calls) > 0 {
		c.text("]")
	}
	c.text("}")
	for _, p := range calls {
		c.openCodeResult(unit, p)
	}
}

// openCodeResult writes a result: an output, or the error of a failed call. A
// running call has no result.
func (c *composer) openCodeResult(unit int, p object) {
	state := p.in("state")
	key := "output"
	if !state.is(key, '"') {
		key = "error"
	}
	if !state.is(key, '"') {
		return
	}
	c.item(unit)
	c.text(`{"role":"tool"`)
	c.members(unit, p, "callID", "tool_call_id")
	c.members(unit, state, key, "content")
	c.text("}")
}

// madeOpenCode returns the element for a new message.
func madeOpenCode(role message.Role) (string, string) {
	return `{"info":{"role":"` + string(role) + `"},"parts":[{"type":"text","text":`, "}]}"
}
