package render

func (s *Session) responsesEnvelope(rows []Row) object {
	body := object{"model": "gpt-5", "store": false, "include": []any{"reasoning.encrypted_content"}, "stream": s.chance("stream", 0, 2)}
	if s.chance("key", 0, 2) {
		body["prompt_cache_key"] = s.id("k", 0, 0)
	}
	if n := preamble(rows); n > 0 && s.instructed() {
		text := textOf(rows[0])
		for _, r := range rows[1:n] {
			text += "\n\n" + textOf(r)
		}
		body["instructions"] = text
	}
	var tools []any
	for _, t := range s.tools {
		tools = append(tools, object{"type": "function", "name": name(t), "parameters": schema(t), "strict": false})
	}
	if tools != nil {
		body["tools"] = tools
	}
	return body
}

// instructed reports whether the agent sends its system prompt as instructions
// and not as messages.
func (s *Session) instructed() bool { return !s.chance("instructions", 0, 3) }

func (s *Session) responsesItems(from, to int) []any {
	out := []any{}
	lead := preamble(s.rows)
	for i := from; i < to; i++ {
		r := s.rows[i]
		switch {
		case role(r) == "assistant":
			out = append(out, s.responsesAnswer(i, r)...)
		case role(r) == "tool":
			out = append(out, s.responsesOutput(i, r))
		case i < lead && s.instructed():
		default:
			out = append(out, s.responsesAsked(i, r))
		}
	}
	return out
}

// responsesAnswer returns reasoning, text and calls, in the order in which the
// model makes them.
func (s *Session) responsesAnswer(i int, r Row) []any {
	var out []any
	text, calls := str(r, "content"), callsOf(r)
	if text == "" && len(partsOf(r)) > 0 {
		text = textOf(r)
	}
	if blank(r) {
		return nil
	}
	for k := range s.reasons(i, r) {
		item := object{"type": "reasoning", "id": s.id("rs_", i, k), "summary": []any{}, "encrypted_content": s.seal("reasoning", i*4+k)}
		if t := str(r, "reasoning_content"); t != "" {
			item["summary"] = []any{object{"type": "summary_text", "text": t}}
		}
		out = append(out, item)
	}
	if text != "" {
		out = append(out, s.responsesText(i, text))
	}
	for k, c := range calls {
		item := object{"type": "function_call", "call_id": c.id, "name": name(c.name), "arguments": c.args}
		if s.chance("ids", 0, 2) {
			item["id"], item["status"] = s.id("fc_", i, k), "completed"
		}
		out = append(out, item)
	}
	return out
}

// reasons returns the number of pieces of reasoning before a row: none, one, or
// sometimes two.
func (s *Session) reasons(i int, r Row) int {
	switch {
	case s.chance("no reasoning", 0, 4):
		return 0
	case s.chance("two", i, 9):
		return 2
	case str(r, "reasoning_content") != "", s.chance("reasons", i, 2):
		return 1
	default:
		return 0
	}
}

func (s *Session) responsesText(i int, text string) object {
	if s.chance("easy", 0, 3) {
		return object{"role": "assistant", "content": text}
	}
	return object{
		"type": "message", "role": "assistant", "id": s.id("msg_", i, 0), "status": "completed",
		"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}},
	}
}

func (s *Session) responsesOutput(i int, r Row) object {
	item := object{"type": "function_call_output", "call_id": str(r, "tool_call_id"), "output": textOf(r)}
	if textOf(r) != "" && s.chance("output parts", i, 7) {
		item["output"] = []any{object{"type": "input_text", "text": textOf(r)}}
	}
	return item
}

func (s *Session) responsesAsked(i int, r Row) object {
	item := object{"role": role(r), "content": textOf(r)}
	if len(mediaOf(r)) == 0 && s.chance("plain", i, 2) {
		return item
	}
	var parts []any
	if textOf(r) != "" || len(mediaOf(r)) == 0 {
		parts = append(parts, object{"type": "input_text", "text": textOf(r)})
	}
	for _, url := range mediaOf(r) {
		parts = append(parts, object{"type": "input_image", "image_url": url, "detail": "auto"})
	}
	item["type"], item["content"] = "message", parts
	return item
}
