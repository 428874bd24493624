package render

import (
	"encoding/json"
	"strings"
)

func (s *Session) geminiEnvelope(rows []Row) object {
	body := object{"generationConfig": object{"temperature": 0, "maxOutputTokens": 1024}}
	var parts []any
	for _, r := range rows[:preamble(rows)] {
		if t := textOf(r); t != "" {
			parts = append(parts, object{"text": t})
		}
	}
	if parts != nil {
		body[s.spelled("systemInstruction", "system_instruction")] = object{"parts": parts}
	}
	var tools []any
	for _, t := range s.tools {
		tools = append(tools, object{"name": name(t), "description": "does " + t, "parameters": schema(t)})
	}
	if tools != nil {
		body["tools"] = []any{object{s.spelled("functionDeclarations", "function_declarations"): tools}}
	}
	return body
}

// spelled returns one of the two spellings that the API accepts.
func (s *Session) spelled(camel, snake string) string {
	if s.chance("snake", 0, 5) {
		return snake
	}
	return camel
}

// geminiItems joins neighbors of one role: a turn with calls directly follows
// the user's, and the responses to a turn's calls are in one content.
func (s *Session) geminiItems(from, to int) []any {
	out := []any{}
	lead := preamble(s.rows)
	add := func(role string, parts []any, join bool) {
		if len(parts) == 0 {
			return
		}
		if len(out) == 0 && from == 0 && role == "model" {
			out = append(out, object{"role": "user", "parts": []any{object{"text": "Begin."}}})
		}
		if n := len(out); n > 0 && join && out[n-1].(object)["role"] == role {
			last := out[n-1].(object)
			last["parts"] = append(last["parts"].([]any), parts...)
			return
		}
		out = append(out, object{"role": role, "parts": parts})
	}
	for i := from; i < to; i++ {
		r := s.rows[i]
		switch {
		case i < lead:
		case role(r) == "assistant":
			add("model", s.geminiAnswer(i, r), true)
		case role(r) == "tool":
			var parts []any
			for ; i < to && role(s.rows[i]) == "tool"; i++ {
				parts = append(parts, s.geminiResult(i, s.rows[i]))
			}
			i--
			add("user", parts, false)
		default:
			add("user", s.geminiAsked(r), s.chance("join", i, 3) && i > from && role(s.rows[i-1]) == role(r))
		}
	}
	return out
}

func (s *Session) geminiAsked(r Row) []any {
	var parts []any
	if t := textOf(r); t != "" {
		parts = append(parts, object{"text": t})
	}
	for _, url := range mediaOf(r) {
		if kind, data, ok := inline(url); ok {
			parts = append(parts, object{s.spelled("inlineData", "inline_data"): object{"mimeType": kind, "data": data}})
		} else {
			parts = append(parts, object{"fileData": object{"mimeType": "image/png", "fileUri": url}})
		}
	}
	return parts
}

// geminiAnswer returns thoughts, text and calls. The first call of a step has a
// signature, and some texts have one.
func (s *Session) geminiAnswer(i int, r Row) []any {
	var parts []any
	if blank(r) {
		return nil
	}
	if t := str(r, "reasoning_content"); t != "" && s.chance("thoughts", 0, 2) {
		parts = append(parts, object{"text": t, "thought": true})
	}
	signature := s.spelled("thoughtSignature", "thought_signature")
	if t := textOf(r); strings.TrimSpace(t) != "" {
		p := object{"text": t}
		if s.chance("signed text", i, 4) {
			p[signature] = s.seal("text", i)
		}
		parts = append(parts, p)
	}
	for k, c := range callsOf(r) {
		call := object{"name": name(c.name), "args": c.input()}
		if s.geminiIDs() {
			call["id"] = c.id
		}
		p := object{s.spelled("functionCall", "function_call"): call}
		if k == 0 && !s.continued(i) {
			p[signature] = s.seal("call", i)
		}
		parts = append(parts, p)
	}
	return parts
}

// continued reports whether the previous answer is in the same content and has
// calls, so that the calls of this row are not the first of the step.
func (s *Session) continued(i int) bool {
	return i > 0 && role(s.rows[i-1]) == "assistant" && len(callsOf(s.rows[i-1])) > 0
}

func (s *Session) geminiIDs() bool { return s.chance("ids", 0, 2) }

func (s *Session) geminiResult(i int, r Row) object {
	text, id := textOf(r), str(r, "tool_call_id")
	response := object{"output": text}
	switch {
	case s.chance("result", 0, 3):
		response = object{"result": text}
	case strings.HasPrefix(strings.ToLower(text), "error"):
		response = object{"error": text}
	case strings.HasPrefix(text, "{") && s.chance("structured", i, 2):
		if o := (call{args: text}).input(); json.Valid([]byte(text)) {
			response = o
		}
	}
	f := object{"name": name(s.called(i, id)), "response": response}
	if s.geminiIDs() {
		f["id"] = id
	}
	return object{s.spelled("functionResponse", "function_response"): f}
}

// called returns the function of the last call with an id.
func (s *Session) called(row int, id string) string {
	for i := row - 1; i >= 0; i-- {
		for _, c := range callsOf(s.rows[i]) {
			if c.id == id {
				return c.name
			}
		}
	}
	return "unknown"
}
