package eval

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
)

// A set holds identifiers.
type set map[string]bool

func (s set) text(text string) {
	ident.Scan(text, func(_ ident.Kind, start, end int) { s[text[start:end]] = true })
}

// message adds what a message names: text, reasoning, arguments, results.
func (s set) message(m message.Message) {
	for _, p := range m.Parts {
		s.text(p.Text)
		s.text(p.Name)
		for _, a := range arguments(p.Args) {
			s.text(a)
		}
	}
}

// order returns the identifiers sorted.
func (s set) order() []string { return slices.Sorted(maps.Keys(s)) }

// holds reports whether id stands inside of an identifier: the end of a path,
// the beginning of a hash.
func (s set) holds(id string) bool {
	for have := range s {
		if strings.Contains(have, id) {
			return true
		}
	}
	return false
}

// arguments returns the strings and numbers of a call's arguments, and the
// names of the members; of what is no JSON, the whole.
func arguments(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return []string{string(raw)}
	}
	return values(nil, v)
}

func values(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(out, v)
	case json.Number:
		return append(out, v.String())
	case []any:
		for _, e := range v {
			out = values(out, e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = values(append(out, k), v[k])
		}
	}
	return out
}
