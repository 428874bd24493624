package provider

import (
	"fmt"
	"net/http"
)

func (s *answerData) chatMessage() object {
	m := object{"role": "assistant", "content": nil, "refusal": nil}
	if s.Text != "" {
		m["content"] = s.Text
	}
	if s.Reasoning != "" {
		m["reasoning_content"] = s.Reasoning
	}
	if calls := s.chatCalls(false); len(calls) > 0 {
		m["tool_calls"] = calls
	}
	return m
}

func (s *answerData) chatCalls(indexed bool) []any {
	var out []any
	for k, c := range s.Calls {
		o := object{"id": s.id(k, "call_"), "type": "function", "function": object{"name": c.Name, "arguments": c.Args}}
		if indexed {
			o["index"] = k
		}
		out = append(out, o)
	}
	return out
}

func (s *answerData) chatFinish() string {
	if len(s.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (s *answerData) chatUsage() object {
	return object{
		"prompt_tokens": s.prompt, "completion_tokens": s.output(), "total_tokens": s.prompt + s.output(),
		"prompt_tokens_details": object{"cached_tokens": s.Cached, "audio_tokens": 0}, "completion_tokens_details": object{"reasoning_tokens": 0},
	}
}

func answerChat(w http.ResponseWriter, a asked, s answerData) {
	id := fmt.Sprintf("chatcmpl-%d", s.serial)
	if a.stream {
		streamChat(w, a, s, id)
		return
	}
	writeJSON(w, http.StatusOK, object{
		"id": id, "object": "chat.completion", "created": 1, "model": a.model, "usage": s.chatUsage(),
		"choices": []any{object{"index": 0, "message": s.chatMessage(), "logprobs": nil, "finish_reason": s.chatFinish()}},
	})
}

// streamChat writes chunks. The usage is in a last chunk without choices, if
// the request asks for it.
func streamChat(w http.ResponseWriter, a asked, s answerData, id string) {
	out := newStream(w)
	chunk := func(choices []any, usage any) {
		o := object{"id": id, "object": "chat.completion.chunk", "created": 1, "model": a.model, "choices": choices}
		if a.usage {
			o["usage"] = usage
		}
		out.event("", o)
	}
	delta := func(d object, finish any) {
		chunk([]any{object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	for _, p := range pieces(s.Reasoning) {
		delta(object{"reasoning_content": p}, nil)
	}
	for _, p := range pieces(s.Text) {
		delta(object{"content": p}, nil)
	}
	for _, c := range s.chatCalls(true) {
		delta(object{"tool_calls": []any{c}}, nil)
	}
	delta(object{}, s.chatFinish())
	if a.usage {
		chunk([]any{}, s.chatUsage())
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}
