package render

import "strings"

func (s *Session) anthropicEnvelope(rows []Row) object {
	body := object{"model": "claude-opus-4-8", "max_tokens": 1024, "stream": s.chance("stream", 0, 2)}
	if s.thinks() {
		body["thinking"] = object{"type": "enabled", "budget_tokens": 1024}
	}
	var blocks []any
	for _, r := range rows[:preamble(rows)] {
		if t := textOf(r); strings.TrimSpace(t) != "" {
			blocks = append(blocks, object{"type": "text", "text": t})
		}
	}
	if len(blocks) == 1 && s.chance("system string", 0, 3) {
		body["system"] = blocks[0].(object)["text"]
	} else if len(blocks) > 0 {
		body["system"] = blocks
	}
	var tools []any
	for _, t := range s.tools {
		tools = append(tools, object{"name": name(t), "description": "does " + t, "input_schema": schema(t)})
	}
	if tools != nil {
		body["tools"] = tools
	}
	if s.chance("metadata", 0, 2) {
		body["metadata"] = object{"user_id": s.id("user_", 0, 0)}
	}
	return body
}

func (s *Session) thinks() bool { return s.chance("thinks", 0, 2) }

// anthropicItems puts the results of a round into one message of the user. Some
// agents add the user's next text to it.
func (s *Session) anthropicItems(from, to int) []any {
	out := []any{}
	lead := preamble(s.rows)
	for i := from; i < to; i++ {
		r := s.rows[i]
		if i < lead || blank(r) && role(r) != "tool" {
			continue
		}
		if role(r) == "assistant" {
			if len(out) == 0 && from == 0 {
				out = append(out, object{"role": "user", "content": "Begin."})
			}
			out = append(out, object{"role": "assistant", "content": s.anthropicAnswer(i, r)})
			continue
		}
		if role(r) == "tool" {
			var blocks []any
			for ; i < to && role(s.rows[i]) == "tool"; i++ {
				blocks = append(blocks, s.anthropicResult(i, s.rows[i]))
			}
			if i < to && role(s.rows[i]) == "user" && !blank(s.rows[i]) && s.chance("beside", i, 2) {
				blocks = append(blocks, s.anthropicAsked(s.rows[i])...)
				i++
			}
			i--
			out = append(out, object{"role": "user", "content": blocks})
			continue
		}
		out = append(out, s.anthropicMessage(i, r))
	}
	return out
}

// anthropicMessage returns a message of the user or, in mid-conversation, of
// the system.
func (s *Session) anthropicMessage(i int, r Row) object {
	if instructs(r) {
		if s.mayBeSystem(i) && s.chance("system message", 0, 2) {
			return object{"role": "system", "content": textOf(r)}
		}
		return object{"role": "user", "content": "<system-reminder>\n" + textOf(r) + "\n</system-reminder>"}
	}
	if len(mediaOf(r)) == 0 && s.chance("string", i, 2) {
		return object{"role": "user", "content": textOf(r)}
	}
	return object{"role": "user", "content": s.anthropicAsked(r)}
}

// mayBeSystem reports whether a row may be a system message in the list: it follows
// the user, or results, and precedes an answer or is the last.
func (s *Session) mayBeSystem(i int) bool {
	if i == 0 || role(s.rows[i-1]) != "tool" && (role(s.rows[i-1]) != "user" || blank(s.rows[i-1])) {
		return false
	}
	return i+1 == len(s.rows) || role(s.rows[i+1]) == "assistant" && !blank(s.rows[i+1])
}

func (s *Session) anthropicAsked(r Row) []any {
	var blocks []any
	if t := textOf(r); strings.TrimSpace(t) != "" {
		blocks = append(blocks, object{"type": "text", "text": t})
	}
	for _, url := range mediaOf(r) {
		source := object{"type": "url", "url": url}
		if kind, data, ok := inline(url); ok {
			source = object{"type": "base64", "media_type": kind, "data": data}
		}
		blocks = append(blocks, object{"type": "image", "source": source})
	}
	return blocks
}

// anthropicAnswer returns thinking, text and calls.
func (s *Session) anthropicAnswer(i int, r Row) any {
	var blocks []any
	if s.thinks() {
		blocks = s.anthropicThinking(i, r)
	}
	text := textOf(r)
	if strings.TrimSpace(text) != "" {
		blocks = append(blocks, object{"type": "text", "text": text})
	}
	for _, c := range callsOf(r) {
		blocks = append(blocks, object{"type": "tool_use", "id": name(c.id), "name": name(c.name), "input": c.input()})
	}
	if len(blocks) == 1 && len(callsOf(r)) == 0 && s.chance("string", i, 2) {
		return text
	}
	return blocks
}

func (s *Session) anthropicThinking(i int, r Row) []any {
	if s.chance("redacted", i, 8) {
		return []any{object{"type": "redacted_thinking", "data": s.seal("redacted", i)}}
	}
	thought := str(r, "reasoning_content")
	if strings.TrimSpace(thought) == "" {
		thought = "What comes next follows from what was found."
	}
	blocks := []any{object{"type": "thinking", "thinking": thought, "signature": s.seal("thinking", i)}}
	if s.chance("two", i, 9) {
		blocks = append(blocks, object{"type": "redacted_thinking", "data": s.seal("redacted", i)})
	}
	return blocks
}

func (s *Session) anthropicResult(i int, r Row) object {
	b := object{"type": "tool_result", "tool_use_id": name(str(r, "tool_call_id"))}
	text := textOf(r)
	switch {
	case strings.TrimSpace(text) == "":
		if s.chance("empty", i, 2) {
			b["content"] = text
		}
	case s.chance("result blocks", 0, 2):
		b["content"] = []any{object{"type": "text", "text": text}}
	default:
		b["content"] = text
	}
	if strings.HasPrefix(strings.ToLower(text), "error") || s.chance("is_error", i, 25) {
		b["is_error"] = true
	}
	return b
}
