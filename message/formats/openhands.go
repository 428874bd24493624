package formats

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// The history of OpenHands is one document with a list "history" of events. An
// event has the format of the SDK (with a "kind") or the older format (an
// "action" or an "observation", with the metadata of its call). Events in the
// older format that are neither messages nor belong to a call of the model stay
// in place.

func isOpenHands(s *source) bool {
	for _, at := range s.doc.list("history") {
		o := objectAt(s.data, at)
		switch o.text("kind") {
		case "ActionEvent", "ObservationEvent", "MessageEvent", "SystemPromptEvent":
			return true
		}
		if o.is("tool_call_metadata", '{') {
			return true
		}
	}
	return false
}

func readOpenHands(s *source) (*File, error) {
	s.elements(s.doc.by["history"])
	c := s.composer()
	c.text(`{"messages":[`)
	sdk := false
	for i, o := range s.at {
		if o.has("kind") {
			sdk = true
			c.openHandsEvent(i, o)
		} else {
			c.openHandsStep(i, o)
		}
	}
	c.text("]}")
	made := madeOpenHandsStep
	if sdk {
		made = madeOpenHandsEvent
	}
	return newLog("openhands", openai.Wire, c, s.list, madeIn(made))
}

// openHandsEvent writes an event of the SDK.
func (c *composer) openHandsEvent(unit int, o object) {
	switch o.text("kind") {
	case "MessageEvent":
		if o.in("llm_message").has("role") {
			c.item(unit)
			c.copy(unit, o.by["llm_message"])
		}
	case "SystemPromptEvent":
		c.item(unit)
		c.text(`{"role":"system"`)
		c.members(unit, o.in("system_prompt"), "text", "content")
		c.text("}")
	case "ActionEvent":
		c.item(unit)
		c.text(`{"role":"assistant"`)
		if len(o.list("thought")) > 0 {
			c.members(unit, o, "thought", "content")
		}
		c.members(unit, o, "reasoning_content", "reasoning_content")
		if o.is("tool_call", '{') {
			c.calls(unit, o.spans("tool_call"), call{"id", "name", "arguments"})
		}
		c.text("}")
	case "ObservationEvent", "AgentErrorEvent":
		c.item(unit)
		c.text(`{"role":"tool"`)
		c.members(unit, o, "tool_call_id", "tool_call_id")
		switch seen := o.in("observation"); {
		case seen.is("output", '"'):
			c.members(unit, seen, "output", "content")
		case seen.is("content", '"') || seen.is("content", '['):
			c.members(unit, seen, "content", "content")
		case o.is("error", '"'):
			c.members(unit, o, "error", "content")
		}
		c.text("}")
	}
}

// openHandsStep writes an event of the older form.
func (c *composer) openHandsStep(unit int, o object) {
	args, meta := o.in("args"), o.in("tool_call_metadata")
	switch {
	case o.text("action") == "system":
		c.item(unit)
		c.text(`{"role":"system"`)
		c.members(unit, args, "content", "content")
		c.text("}")
	case o.text("action") == "message":
		role := map[bool]string{true: "user", false: "assistant"}[o.text("source") == "user"]
		c.item(unit)
		c.text(`{"role":"` + role + `"`)
		c.members(unit, args, "content", "content")
		c.text("}")
	case o.has("action") && meta.has("tool_call_id"):
		c.item(unit)
		c.text(`{"role":"assistant"`)
		if args.text("thought") != "" {
			c.members(unit, args, "thought", "content")
		}
		c.text(`,"tool_calls":[{"type":"function"`)
		c.members(unit, meta, "tool_call_id", "id")
		c.text(`,"function":{`)
		c.members(unit, meta, "function_name", "name")
		c.members(unit, o, "args", "arguments")
		c.text("}}]}")
	case o.has("observation") && meta.has("tool_call_id"):
		c.item(unit)
		c.text(`{"role":"tool"`)
		c.members(unit, meta, "tool_call_id", "tool_call_id")
		c.members(unit, o, "content", "content")
		c.text("}")
	}
}

func madeOpenHandsEvent(role message.Role) (string, string) {
	return `{"kind":"MessageEvent","source":"` + sourceOf(role) + `","llm_message":{"role":"` + string(role) + `","content":[{"type":"text","text":`, "}]}}"
}

func madeOpenHandsStep(role message.Role) (string, string) {
	action := "message"
	if role == message.RoleSystem {
		action = "system"
	}
	return `{"source":"` + sourceOf(role) + `","action":"` + action + `","args":{"content":`, "}}"
}

func sourceOf(role message.Role) string {
	if role == message.RoleUser {
		return "user"
	}
	return "agent"
}
