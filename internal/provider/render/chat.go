package render

func (s *Session) chatEnvelope() object {
	body := object{"model": "gpt-4o", "stream": s.chance("stream", 0, 2)}
	if s.chance("user", 0, 2) {
		body["user"] = s.id("user-", 0, 0)
	}
	var tools []any
	for _, t := range s.tools {
		tools = append(tools, object{"type": "function", "function": object{"name": name(t), "description": "does " + t, "parameters": schema(t)}})
	}
	if tools != nil {
		body["tools"] = tools
	}
	return body
}

// chatItems returns the rows themselves. Some agents send texts as parts, and
// agents of Gemini on this wire also send signatures.
func (s *Session) chatItems(from, to int) []any {
	var out []any
	for i := from; i < to; i++ {
		r := object{}
		for k, v := range s.rows[i] {
			r[k] = v
		}
		if text := str(r, "content"); text != "" && s.chance("parts", 0, 3) && s.chance("parts", i, 2) {
			r["content"] = []any{object{"type": "text", "text": text}}
		}
		if calls, ok := r["tool_calls"].([]any); ok && len(calls) > 0 && s.chance("extra", 0, 3) {
			r["tool_calls"] = s.chatSigned(i, calls)
		}
		out = append(out, r)
	}
	return out
}

// chatSigned returns calls with a signature on the first.
func (s *Session) chatSigned(i int, calls []any) []any {
	out := append([]any(nil), calls...)
	first := object{}
	if o, ok := calls[0].(object); ok {
		for k, v := range o {
			first[k] = v
		}
	}
	first["extra_content"] = object{"google": object{"thought_signature": s.seal("chat", i)}}
	out[0] = first
	return out
}
