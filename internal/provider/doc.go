// Package provider implements the servers of four model providers for tests:
// their refusals and error texts, their answers, also as streams, and their
// errors for prompts that are too long.
//
// A [Judge] checks request bodies against the provider's rules. A [Server]
// serves judges under the provider's real paths. Both use only encoding/json
// and import nothing of this module, because the code that writes a request
// must not judge it.
package provider

import "strings"

// A Wire is the request format of one provider's API.
type Wire string

// The wires.
const (
	Chat      Wire = "chat"      // POST …/chat/completions
	Responses Wire = "responses" // POST …/responses
	Anthropic Wire = "anthropic" // POST …/messages
	Gemini    Wire = "gemini"    // POST …:generateContent and …:streamGenerateContent
)

// Wires returns the four wires.
func Wires() []Wire { return []Wire{Chat, Responses, Anthropic, Gemini} }

// A Refusal is one reason why a provider refuses a request.
type Refusal struct {
	Rule string // the name of the rule
	ID   string // the refused object: a call id if there is one; never a position
	Path string // the position, in the provider's notation
	Text string // the provider's error text

	// Dialect reports that only some servers of this wire refuse the request
	// for this reason; see [Judge.Dialects].
	Dialect bool
}

func (r Refusal) Error() string { return r.Text }

// New returns the refusals of the list after that are missing in the list before: an edit
// of the request caused them. Two refusals are the same if Rule and ID are equal.
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
	dialect bool // the Dialect of refusals added now
}

func (r *report) add(rule, id, path, text string) {
	r.found = append(r.found, Refusal{Rule: rule, ID: id, Path: path, Text: text, Dialect: r.dialect})
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
