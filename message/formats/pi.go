package formats

import (
	"github.com/agentcompact/compact/message/anthropic"
)

// The session of pi has one entry in each line; entries of the type message hold a
// message in blocks. The blocks have other names than Anthropic's blocks and are read
// in the same way.

func isPi(s *source) bool {
	return s.lines && s.any(func(o object) bool {
		switch o.in("message").text("role") {
		case "toolResult":
			return o.text("type") == "message"
		case "user", "assistant":
			return o.text("type") == "message" && o.in("message").has("timestamp")
		}
		return false
	})
}

func readPi(s *source) (*File, error) {
	c := s.composer()
	c.text(`{"messages":[`)
	for i, o := range s.at {
		if m := o.in("message"); o.text("type") == "message" {
			c.pi(i, m)
		}
	}
	c.text("]}")
	line := func(object) (string, string) { return `{"type":"message","message":`, "}" }
	return newLog("pi", anthropic.Wire, c, s.list, wrapped(anthropic.Wire, "messages", line))
}

func (c *composer) pi(unit int, m object) {
	switch m.text("role") {
	case "user", "assistant":
		if !m.has("content") || m.is("content", '[') && len(m.list("content")) == 0 {
			return // an answer that was canceled before it began
		}
		c.item(unit)
		c.text(`{"role":"` + m.text("role") + `","content":`)
		if m.is("content", '[') {
			c.piBlocks(unit, m)
		} else {
			c.copy(unit, m.by["content"])
		}
		c.text("}")
	case "toolResult":
		c.item(unit)
		c.text(`{"role":"user","content":[{"type":"tool_result"`)
		c.members(unit, m, "toolCallId", "tool_use_id", "isError", "is_error")
		if m.is("content", '[') {
			c.text(`,"content":`)
			c.piBlocks(unit, m)
		} else if m.has("content") {
			c.members(unit, m, "content", "content")
		}
		c.text("}]}")
	}
}

func (c *composer) piBlocks(unit int, m object) {
	c.text("[")
	for k, at := range m.list("content") {
		c.text(opening(k, ""))
		b := objectAt(c.data, at)
		switch b.text("type") {
		case "toolCall":
			c.text(`{"type":"tool_use"`)
			c.members(unit, b, "id", "id", "name", "name", "arguments", "input")
			c.text("}")
		case "thinking":
			c.text(`{"type":"thinking"`)
			c.members(unit, b, "thinking", "thinking", "thinkingSignature", "signature")
			c.text("}")
		case "image":
			c.text(`{"type":"image","source":{"type":"base64"`)
			c.members(unit, b, "mimeType", "media_type", "data", "data")
			c.text("}}")
		default:
			c.copy(unit, at)
		}
	}
	c.text("]")
}
