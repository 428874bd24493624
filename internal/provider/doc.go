// Package provider implements, for tests, the servers of four model providers:
// what they refuse and in which words, how they answer, streaming included,
// and what they say when a prompt is too long.
//
// A [Judge] holds request bodies against the provider's rules, a [Server] is a
// judge behind the provider's real paths. Both read JSON with encoding/json
// alone and know nothing of this module: what produces a request does not
// judge it.
package provider

import "strings"

// A Wire is the way that one provider's API is spoken to.
type Wire string

// The wires.
const (
	Chat      Wire = "chat"      // POST …/chat/completions
	Responses Wire = "responses" // POST …/responses
	Anthropic Wire = "anthropic" // POST …/messages
	Gemini    Wire = "gemini"    // POST …:generateContent and …:streamGenerateContent
)

// Wires returns the four.
func Wires() []Wire { return []Wire{Chat, Responses, Anthropic, Gemini} }

// A Refusal is one reason for which a provider refuses a request.
type Refusal struct {
	Rule string // the name of the rule
	ID   string // what it is about: a call id where there is one; never a position
	Path string // where, in the provider's notation
	Text string // what the provider says

	// Dialect says that only some of the servers that speak this wire refuse
	// it; see [Judge.Dialects].
	Dialect bool
}

func (r Refusal) Error() string { return r.Text }

// New returns the refusals of after that before has not: what an edit of a
// request broke. Two are the same when rule and id are.
func New(before, after []Refusal) []Refusal {
	type key struct{ rule, id string }
	had := map[key]int{}
	for _, r := range before {
		had[key{r.Rule, r.ID}]++
	}
	var out []Refusal
	for _, r := range after {
		k := key{r.Rule, r.ID}
		if had[k]--; had[k] < 0 {
			out = append(out, r)
		}
	}
	return out
}

// report collects refusals in the order in which they are found.
type report struct {
	found   []Refusal
	dialect bool // what is found now is
}

func (r *report) add(rule, id, path, text string) {
	r.found = append(r.found, Refusal{Rule: rule, ID: id, Path: path, Text: text, Dialect: r.dialect})
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
