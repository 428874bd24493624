package formats

import "github.com/agentcompact/compact/message/responses"

// The rollout of Codex has one event in each line. A line of the type response_item
// holds an item of the Responses API as its payload; the first line has the
// instructions. If Codex compacted, the line about the compaction is kept, and the
// messages before that line are part of the conversation.

func isCodex(s *source) bool {
	return s.lines && s.any(func(o object) bool {
		switch o.text("type") {
		case "session_meta", "response_item", "turn_context", "event_msg":
			return o.is("payload", '{')
		}
		return false
	})
}

func readCodex(s *source) (*File, error) {
	c := s.composer()
	c.text("{")
	for i, o := range s.at {
		if o.text("type") != "session_meta" {
			continue
		}
		if meta := o.in("payload"); meta.in("base_instructions").is("text", '"') {
			c.members(i, meta.in("base_instructions"), "text", "instructions")
			c.text(",")
		} else if meta.is("instructions", '"') {
			c.members(i, meta, "instructions", "instructions")
			c.text(",")
		}
		break
	}
	c.text(`"input":[`)
	for i, o := range s.at {
		if o.text("type") == "response_item" && o.is("payload", '{') {
			c.item(i)
			c.copy(i, o.by["payload"])
		}
	}
	c.text("]}")
	line := func(object) (string, string) { return `{"type":"response_item","payload":`, "}" }
	return newLog("codex", responses.Wire, c, s.list, wrapped(responses.Wire, "input", line))
}
