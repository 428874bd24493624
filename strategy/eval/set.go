package eval

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
)

// A set holds identifiers.
type set map[string]bool

func (s set) text(text string) {
	ident.Scan(text, func(_ ident.Kind, start, end int) { s[text[start:end]] = true })
}

// message adds what a message holds: text, reasoning, arguments, results.
func (s set) message(m message.Message) {
	for _, p := range m.Parts {
		s.text(p.Text)
		if len(p.Args) > 0 {
			s.json(p.Args)
		}
	}
}

// json adds what the strings and numbers of a JSON value hold.
func (s set) json(raw []byte) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		s.text(string(raw))
		return
	}
	s.value(v, raw)
}

func (s set) value(v any, raw []byte) {
	switch v := v.(type) {
	case string:
		s.text(v)
	case []any:
		for _, e := range v {
			s.value(e, nil)
		}
	case map[string]any:
		for _, e := range v {
			s.value(e, nil)
		}
	case float64:
		b, err := json.Marshal(v)
		if err == nil {
			s.text(string(b))
		}
	}
}

func (s set) order() []string { return slices.Sorted(maps.Keys(s)) }
