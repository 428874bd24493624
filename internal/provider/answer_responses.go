package provider

import (
	"fmt"
	"net/http"
)

func (s *answerData) responsesItems() []any {
	if s.Compaction {
		return []any{object{"type": "compaction", "id": fmt.Sprintf("cmp_%d", s.serial), "encrypted_content": s.signature}}
	}
	out := []any{}
	if s.Reasoning != "" {
		it := object{
			"type": "reasoning", "id": fmt.Sprintf("rs_%d", s.serial), "encrypted_content": s.signature,
			"summary": []any{object{"type": "summary_text", "text": s.Reasoning}},
		}
		if s.open {
			delete(it, "encrypted_content")
		}
		out = append(out, it)
	}
	if s.Text != "" {
		out = append(out, object{
			"type": "message", "id": fmt.Sprintf("msg_%d", s.serial), "status": "completed", "role": "assistant",
			"content": []any{object{"type": "output_text", "text": s.Text, "annotations": []any{}}},
		})
	}
	for _, raw := range s.Items {
		if it, err := decode([]byte(raw)); err == nil {
			out = append(out, it)
		}
	}
	for k, c := range s.Calls {
		if c.Input != "" {
			out = append(out, object{
				"type": "custom_tool_call", "id": fmt.Sprintf("ctc_%d_%d", s.serial, k), "call_id": s.id(k, "call_"), "name": c.Name,
				"input": c.Input, "status": "completed",
			})
			continue
		}
		call := object{
			"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", s.serial, k), "call_id": s.id(k, "call_"), "name": c.Name,
			"arguments": c.Args, "status": "completed",
		}
		if c.Namespace != "" {
			call["namespace"] = c.Namespace
		}
		out = append(out, call)
	}
	return out
}

func (s *answerData) response(a asked, status string, output []any, usage any) object {
	return object{
		"id": fmt.Sprintf("resp_%d", s.serial), "object": "response", "created_at": 1, "status": status, "model": a.model, "error": nil,
		"output": output, "usage": usage,
	}
}

func (s *answerData) responsesUsage() object {
	return object{
		"input_tokens": s.prompt, "input_tokens_details": object{"cached_tokens": s.Cached},
		"output_tokens": s.output(), "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": s.prompt + s.output(),
	}
}

func answerResponses(w http.ResponseWriter, a asked, s answerData) {
	items := s.responsesItems()
	switch {
	case a.stream:
	case a.background: // the client asks for the answer later
		writeJSON(w, http.StatusOK, s.response(a, "queued", []any{}, nil))
		return
	default:
		writeJSON(w, http.StatusOK, s.response(a, "completed", items, s.responsesUsage()))
		return
	}
	out := newStream(w)
	out.typed("response.created", true, object{"response": s.response(a, "in_progress", []any{}, nil)})
	for i, it := range items {
		streamItem(out, i, it.(object))
	}
	out.typed("response.completed", true, object{"response": s.response(a, "completed", items, s.responsesUsage())})
}

// streamItem writes the events of one item of an answer.
func streamItem(out *stream, i int, it object) {
	id := str(it, "id")
	added := without(it, "encrypted_content")
	begun := object{"content": []any{}, "arguments": "", "status": "in_progress"} // clients append to these
	for name, empty := range begun {
		if it[name] != nil {
			added[name] = empty
		}
	}
	out.typed("response.output_item.added", true, object{"output_index": i, "item": added})
	switch str(it, "type") {
	case "message":
		part := it["content"].([]any)[0].(object)
		at := func(name string, value any) object {
			return object{"item_id": id, "output_index": i, "content_index": 0, name: value}
		}
		out.typed("response.content_part.added", true, at("part", object{"type": "output_text", "text": "", "annotations": []any{}}))
		for _, p := range pieces(str(part, "text")) {
			out.typed("response.output_text.delta", true, at("delta", p))
		}
		out.typed("response.output_text.done", true, at("text", str(part, "text")))
		out.typed("response.content_part.done", true, at("part", part))
	case "function_call":
		for _, p := range pieces(str(it, "arguments")) {
			out.typed("response.function_call_arguments.delta", true, object{"item_id": id, "output_index": i, "delta": p})
		}
		out.typed("response.function_call_arguments.done", true, object{"item_id": id, "output_index": i, "arguments": str(it, "arguments")})
	}
	out.typed("response.output_item.done", true, object{"output_index": i, "item": it})
}

// writeResponsesFailure reports an error in a stream.
func writeResponsesFailure(out *stream, t errorAnswer) {
	s := answerData{}
	out.typed("response.created", true, object{"response": s.response(asked{}, "in_progress", []any{}, nil)})
	failed := s.response(asked{}, "failed", []any{}, nil)
	failed["error"] = object{"code": t.code, "message": t.text}
	out.typed("response.failed", true, object{"response": failed})
}
