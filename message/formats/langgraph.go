package formats

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// A thread of LangGraph is one document with a list "messages" in "values",
// whose elements have the message types of LangChain.

var langGraphRoles = map[string]string{"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}

func isLangGraph(s *source) bool {
	for _, at := range s.doc.in("values").list("messages") {
		if langGraphRoles[objectAt(s.data, at).text("type")] != "" {
			return true
		}
	}
	return false
}

func readLangGraph(s *source) (*File, error) {
	s.elements(s.doc.in("values").by["messages"])
	c := s.composer()
	c.text(`{"messages":[`)
	for i, o := range s.at {
		role := langGraphRoles[o.text("type")]
		if role == "" {
			continue
		}
		c.item(i)
		c.text(`{"role":"` + role + `"`)
		c.members(i, o, "content", "content", "tool_call_id", "tool_call_id")
		if extra := o.in("additional_kwargs"); extra.is("reasoning_content", '"') {
			c.members(i, extra, "reasoning_content", "reasoning_content")
		}
		c.calls(i, o.list("tool_calls"), call{"id", "name", "args"})
		c.text("}")
	}
	c.text("]}")
	return newLog("langgraph", openai.Wire, c, s.list, madeIn(func(role message.Role) (string, string) {
		for kind, r := range langGraphRoles {
			if r == string(role) {
				return `{"type":"` + kind + `","content":`, "}"
			}
		}
		return `{"type":"system","content":`, "}"
	}))
}
