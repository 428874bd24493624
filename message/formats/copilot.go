package formats

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// The log of Copilot CLI has one event in each line. Four types of events are
// messages of chat completions under other names.

func isCopilot(s *source) bool {
	return s.lines && s.any(func(o object) bool {
		return (o.text("type") == "user.message" || o.text("type") == "assistant.message") && o.is("data", '{')
	})
}

func readCopilot(s *source) (*File, error) {
	c := s.composer()
	c.text(`{"messages":[`)
	for i, o := range s.at {
		d := o.in("data")
		switch o.text("type") {
		case "system.message", "user.message":
			role, _, _ := strings.Cut(o.text("type"), ".")
			c.item(i)
			c.text(`{"role":"` + role + `"`)
			c.members(i, d, "content", "content")
			c.text("}")
		case "assistant.message":
			c.copilotAnswer(i, d)
		case "tool.execution_complete":
			if d.has("toolCallId") {
				c.copilotResult(i, d)
			}
		}
	}
	c.text("]}")
	return newLog("copilot", openai.Wire, c, s.list, madeIn(madeCopilot))
}

func (c *composer) copilotAnswer(unit int, d object) {
	calls := d.list("toolRequests")
	if d.text("content") == "" && len(calls) == 0 {
		return
	}
	c.item(unit)
	c.text(`{"role":"assistant"`)
	if d.text("content") != "" {
		c.members(unit, d, "content", "content")
	}
	c.calls(unit, calls, call{"toolCallId", "name", "arguments"})
	c.text("}")
}

func (c *composer) copilotResult(unit int, d object) {
	c.item(unit)
	c.text(`{"role":"tool"`)
	c.members(unit, d, "toolCallId", "tool_call_id")
	from := d.in("result")
	if !from.is("content", '"') {
		from = d.in("error")
		if from.is("message", '"') {
			c.members(unit, from, "message", "content")
		}
	} else {
		c.members(unit, from, "content", "content")
	}
	c.text("}")
}

// madeCopilot returns the line of a new message.
func madeCopilot(role message.Role) (string, string) {
	return `{"type":"` + string(role) + `.message","data":{"content":`, "}}"
}
