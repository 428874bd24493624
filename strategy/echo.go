package strategy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/internal/testrun"
)

// longestEcho is the maximum length, in bytes, of an answer that only repeats its call.
const longestEcho = 120

// echoWords are words that such an answer may have in addition to the words of the call,
// because they say nothing new.
var echoWords = []string{"to", "into", "in", "on", "at", "the", "a", "of", "with", "and", "element", "page", "url", "tab", "key", "field", "text", "index", "successfully", "ok", "done"}

// echoes reports whether the answer of a call only repeats the call, as in "Clicked element 6".
// A log of clicks is half as long without such answers.
func (c *Call) echoes() bool {
	text := strings.TrimSpace(testrun.Uncolored(body(c.Result)))
	if text == "" || len(text) > longestEcho || strings.Contains(text, "\n") || c.attempts() {
		return false
	}
	asked := lowWords(c.Tool)
	for _, a := range c.Args {
		asked = append(asked, lowWords(a.Value)...)
	}
	acted := false
	for _, w := range lowWords(text) {
		switch {
		case slices.Contains(asked, w), slices.Contains(echoWords, w):
		case participle(w) && !slices.Contains(badStates, w) && !slices.Contains(idleParticiples, w):
			acted = true
		default:
			return false
		}
	}
	return acted
}

// lowWords returns the words of a text in lower case.
func lowWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text[:min(len(text), edge)]), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// mostChained is the maximum length, in bytes, of an entry that lists calls one after another.
const mostChained = 400

// chains appends the call of next to the entry e, if the answers of all their calls say
// nothing new and e is not too long. It reports whether it did.
func (e *event) chains(next *event) bool {
	if !e.chain || !next.chain || len(e.text) > mostChained {
		return false
	}
	e.text += ", then " + strings.TrimPrefix(next.text, "called ")
	return true
}

// leastLoop is the minimum number of equal calls that a line reports.
const leastLoop = 3

// looped returns an entry that counts the runs of a call whose result other lines quote, so
// that a reader sees that the agent asked again and again.
func (w *watch) looped(c *Call, step int) (e event) {
	if w == nil || w.runs < leastLoop || c.deed() != deedCall || thinks(c.Tool) {
		return e
	}
	return event{first: w.first, last: step, text: "called " + c.name() + " " + itoa(w.runs) + " times with the same arguments", value: watchedValue}
}
