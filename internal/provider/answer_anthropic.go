package provider

import (
	"fmt"
	"net/http"
)

func (s *answerData) anthropicBlocks() []any {
	out := []any{}
	if s.resumes != "" && !s.Waiting {
		out = append(out, object{"type": "code_execution_tool_result", "tool_use_id": s.resumes, "content": object{"type": "code_execution_result", "stdout": "done", "stderr": "", "return_code": 0, "content": []any{}}})
	}
	if s.Reasoning != "" {
		out = append(out, object{"type": "thinking", "thinking": s.Reasoning, "signature": s.signature})
	}
	if s.Search != "" {
		out = append(out, s.searched()...)
	}
	if s.Text != "" {
		out = append(out, object{"type": "text", "text": s.Text})
	}
	caller := object{"type": "direct"}
	if s.Code != "" {
		out = append(out, object{"type": "server_tool_use", "id": s.program(), "name": "code_execution", "input": object{"code": s.Code}})
	}
	if s.running() != "" {
		caller = object{"type": "code_execution_20250825", "tool_id": s.running()}
	}
	for k, c := range s.Calls {
		by := caller
		if c.Direct {
			by = object{"type": "direct"}
		}
		out = append(out, object{"type": "tool_use", "id": s.id(k, "toolu_"), "name": c.Name, "input": c.args(), "caller": by})
	}
	return out
}

func (s *answerData) program() string { return fmt.Sprintf("srvtoolu_code_%d", s.serial) }

// running returns the id of the program that waits for the calls of the answer; "" = none.
func (s *answerData) running() string {
	switch {
	case s.Code != "":
		return s.program()
	case s.Waiting:
		return s.resumes
	}
	return ""
}

// container returns the container in which a program of the answer ran; nil = none did.
func (s *answerData) container() any {
	if s.Code == "" && s.resumes == "" {
		return nil
	}
	return object{"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}
}

// searched returns a call of a tool that the provider runs, and its partly
// sealed result.
func (s *answerData) searched() []any {
	id := fmt.Sprintf("srvtoolu_%d", s.serial)
	found := object{
		"type": "web_search_result", "url": fmt.Sprintf("https://example.org/%d", s.serial), "title": s.Search, "page_age": "April 30, 2025",
		"encrypted_content": "page/" + s.signature,
	}
	return []any{
		object{"type": "server_tool_use", "id": id, "name": "web_search", "input": object{"query": s.Search}},
		object{"type": "web_search_tool_result", "tool_use_id": id, "content": []any{found}},
	}
}

// anthropicUsage counts tokens read from a cache or written to one separately.
func (s *answerData) anthropicUsage(output int) object {
	return object{
		"input_tokens": s.prompt - s.Cached - s.Created, "cache_creation_input_tokens": s.Created, "cache_read_input_tokens": s.Cached, "output_tokens": output,
	}
}

func (s *answerData) anthropicStop() string {
	if len(s.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (s *answerData) anthropicMessage(a asked, blocks []any, stop any, output int) object {
	return object{
		"id": fmt.Sprintf("msg_%d", s.serial), "type": "message", "role": "assistant", "model": a.model, "content": blocks, "stop_reason": stop,
		"stop_sequence": nil, "usage": s.anthropicUsage(output), "container": s.container(),
	}
}

func answerAnthropic(w http.ResponseWriter, a asked, s answerData) {
	blocks := s.anthropicBlocks()
	if !a.stream {
		writeJSON(w, http.StatusOK, s.anthropicMessage(a, blocks, s.anthropicStop(), s.output()))
		return
	}
	out := newStream(w)
	begin := s.anthropicMessage(a, []any{}, nil, 1)
	begin["container"] = nil // the last event but one has it
	out.typed("message_start", false, object{"message": begin})
	out.typed("ping", false, object{})
	for i, b := range blocks {
		streamBlock(out, i, b.(object))
	}
	out.typed("message_delta", false, object{"delta": object{"stop_reason": s.anthropicStop(), "stop_sequence": nil, "container": s.container()}, "usage": object{"output_tokens": s.output()}})
	out.typed("message_stop", false, object{})
}

// streamBlock writes the events of one block of an answer.
func streamBlock(out *stream, i int, b object) {
	delta := func(d object) { out.typed("content_block_delta", false, object{"index": i, "delta": d}) }
	start := without(b)
	switch str(b, "type") {
	case "thinking":
		start["thinking"], start["signature"] = "", ""
	case "text":
		start["text"] = ""
	case "tool_use", "server_tool_use":
		start["input"] = object{}
	}
	out.typed("content_block_start", false, object{"index": i, "content_block": start})
	for _, p := range pieces(str(b, "thinking")) {
		delta(object{"type": "thinking_delta", "thinking": p})
	}
	if s := str(b, "signature"); s != "" {
		delta(object{"type": "signature_delta", "signature": s})
	}
	for _, p := range pieces(str(b, "text")) {
		delta(object{"type": "text_delta", "text": p})
	}
	if in, ok := b["input"]; ok {
		for _, p := range pieces(canonical(in)) {
			delta(object{"type": "input_json_delta", "partial_json": p})
		}
	}
	out.typed("content_block_stop", false, object{"index": i})
}
