package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// leastSpoken is the minimum number of words of a meaningful string in JSON.
const leastSpoken = 4

// spokenText returns the text of an assistant's message, with the sentences of
// a JSON form as plain lines.
func spokenText(text string) string {
	start := strings.IndexByte(text, '{')
	if start < 0 || start > 0 && text[start-1] != '\n' || strings.Contains(text[:start], "```") {
		return text
	}
	data := []byte(text[start:])
	at, err := jsonscan.Value(data, 0)
	if err != nil || jsonscan.Check(at.Of(data)) != nil {
		return text
	}
	if name, _ := jsonAction(at.Of(data), 0); name != "" {
		return text // [actionAtEnd] reads it
	}
	var said []string
	formSentences(data, at, "", &said, 0)
	if len(said) == 0 {
		return text
	}
	return text[:start] + strings.Join(said, "\n") + text[start+at.End:]
}

// thoughtLabels precede the thoughts of an agent.
var thoughtLabels = []string{"THOUGHT:", "Thought:"}

// unlabeled returns a sentence without a label of thoughtLabels.
func unlabeled(t string) string {
	for _, label := range thoughtLabels {
		if rest, ok := strings.CutPrefix(t, label); ok {
			return strings.TrimSpace(rest)
		}
	}
	return t
}

// plainKeys are keys without information: they only say that the value is text.
var plainKeys = []string{"message", "text", "content", "answer", "response", "reply", "output", "result", "say", "speech"}

// inWords returns a key as words: "next_step" is "next step".
func inWords(key string) string { return prose.Squash(strings.ReplaceAll(key, "_", " ")) }

// formSentences collects the meaningful strings of a form, each after the name
// of its field.
func formSentences(data []byte, at jsonscan.Span, key string, out *[]string, depth int) {
	raw := at.Of(data)
	if len(raw) == 0 || depth > maxArgDepth {
		return
	}
	switch raw[0] {
	case '"':
		if s, err := jsonscan.Unquote(raw); err == nil && len(strings.Fields(s)) >= leastSpoken {
			if key != "" && !slices.Contains(plainKeys, strings.ToLower(key)) {
				s = "(" + inWords(key) + ") " + s
			}
			*out = append(*out, prose.Squash(s))
		}
	case '{':
		_ = jsonscan.Object(data, at, func(m jsonscan.Member) error {
			name := m.Key
			if depth > 0 && key != "" {
				name = key
			}
			formSentences(data, m.Value, name, out, depth+1)
			return nil
		})
	case '[':
		_ = jsonscan.Array(data, at, func(_ int, elem jsonscan.Span) error {
			formSentences(data, elem, key, out, depth+1)
			return nil
		})
	}
}
