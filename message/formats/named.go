package formats

import (
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// marks records for which wires a list of messages has signs. A sign is a field that only one wire
// writes, and that holds calls, results or texts.
type marks struct{ openai, anthropic, responses, gemini bool }

func (m *marks) look(o object) {
	switch o.text("role") {
	case "tool", "function":
		m.openai = true
	case "model":
		m.gemini = true
	}
	m.openai = m.openai || o.has("tool_calls") || o.has("tool_call_id")
	m.gemini = m.gemini || o.is("parts", '[') && !o.has("content")
	m.responses = m.responses || o.has("type") && (o.has("call_id") || responsesTypes[o.text("type")])
	if !o.is("content", '[') {
		return
	}
	_ = jsonscan.Array(o.data, o.by["content"], func(_ int, elem jsonscan.Span) error {
		kind := objectAt(o.data, elem).text("type")
		m.anthropic = m.anthropic || kind == "tool_use" || kind == "tool_result"
		return nil
	})
}

// marks collects the marks of all messages in a list, or in the lists of a body.
func (s *source) marks() (m marks) {
	if !s.isBody() {
		for _, o := range s.at {
			m.look(o)
		}
		return m
	}
	for _, key := range []string{"messages", "input", "contents"} {
		for _, at := range s.doc.list(key) {
			m.look(objectAt(s.data, at))
		}
	}
	return m
}

// fits returns an error if the caller named a wire and the file has marks of other
// wires only.
func (s *source) fits(name string) error {
	m := s.marks()
	own := map[string]bool{"openai": m.openai, "anthropic": m.anthropic, "responses": m.responses, "gemini": m.gemini}
	if own[name] {
		return nil
	}
	for _, other := range []string{"gemini", "responses", "anthropic", "openai"} {
		if own[other] {
			return &InputError{Line: 1, Index: -1, Err: fmt.Errorf("nothing in the input has the format %s; it is %s", name, other)}
		}
	}
	if name == "gemini" && !s.isBody() && s.any(func(o object) bool { return o.has("content") }) {
		return &InputError{Line: 1, Index: -1, Err: fmt.Errorf("nothing in the input has the format %s", name)}
	}
	return nil
}
