package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// purpose returns the purpose of a call that the assistant stated in a text.
func purpose(text string) string {
	s := unlabeled(lastSentence(text))
	if quality(s) < 0.15 {
		return ""
	}
	return plainly(s)
}

// begun lists beginnings of sentences with a purpose. plainly removes them.
var begun = []string{"now let me ", "let me ", "now i'll ", "i'll ", "i’ll ", "now i’ll ", "now i will ", "i will ", "now i need to ", "i need to ", "now i'm going to ", "i'm going to ", "let's ", "now let's ",
	"next, i'll ", "next i'll ", "first, let me ", "first let me ", "now ", "also ", "then "}

// plainly shortens a purpose: "Let me check the tests" becomes "check the tests". It
// returns "" if fewer than leastPurpose bytes are left.
func plainly(s string) string {
	for again := true; again; {
		again = false
		for _, b := range begun {
			if len(s) > len(b) && strings.EqualFold(s[:len(b)], b) {
				s, again = s[len(b):], true
			}
		}
	}
	if len(s) < leastPurpose {
		return ""
	}
	return s
}

// saidBefore returns the suffix that quotes the purpose stated before a change.
func saidBefore(why string) string { return beforeIt + why + "”" }

// beforeIt begins the quotation of a purpose.
const beforeIt = " — said before: “"

// leastPurpose is the minimum length of a purpose, in bytes.
const leastPurpose = 16

// outcomeWords appear in sentences that state the outcome of a run.
var outcomeWords = []string{" pass", "succe", " fail", " green", "works", "clean", "0 issues"}

// claims reports whether a sentence may state an outcome. Next to a command, such a
// sentence would read as the outcome of that command.
func claims(t string) bool { return prose.HasAny(strings.ToLower(t), outcomeWords) }
