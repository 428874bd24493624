package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// failPhrases lists phrases that state, in the first sentence of an answer, that an action
// did not happen. With a phrase of doubtPhrases, it is uncertain whether the action happened.
var (
	failPhrases = []string{"insufficient funds", "insufficient balance", "not executed", "not processed", "was declined", "is declined", "been declined", "was rejected", "is rejected", "been rejected", "was refused", "permission denied", "access denied",
		"not authorized", "unauthorized", "not permitted", "not allowed", " failed: ", "no changes were made", "nothing was changed"}
	doubtPhrases = []string{"cannot ", "can not ", "can't ", "could not ", "couldn't ", "unable to", "not found", "does not exist", "failed", "error", "denied", "declined", "rejected", "refused", "invalid", "requires ", "insufficient",
		"not available", "unavailable", "no such ", "was not ", "were not ", "is not ", "are not "}
	negations = []string{"not", "cannot", "can't", "couldn't", "wasn't", "isn't", "never", "won't", "unable", "fails", "failed"}
)

// answerStates returns whether the answer of a tool states a failure, and the line that
// states it. It reads the beginning and the end of the answer, because the middle is mostly
// content. A line that repeats an argument of the call does not count.
func (c *Call) answerStates(text string) (statement, string) {
	var lines []string
	for line := range strings.Lines(bothEnds(text)) {
		if line = strings.TrimSpace(line[:min(len(line), 400)]); line != "" && !framed(line) && !ourOwn(line) && !c.gave(line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return statesNone, ""
	}
	if how := c.namedState(lines); how != statesNone {
		return how, lines[0]
	}
	first, last := lines[0], lines[len(lines)-1]
	sentence, _, _ := strings.Cut(first, ". ")
	low := strings.ToLower(sentence)
	did, undone := c.tellsDeed(low)
	switch {
	case undone, c.hasPhrase(low, failPhrases) && !did, prose.BeginsAny(low, softStarts) && !did && !c.asksFor(low):
		return statesFailure, first
	case (tellsFailure(first) || onlyError(low)) && !did:
		return statesFailure, first
	case did || confirmed(text) || deedDone(first):
		return statesNone, ""
	case len(lines) > 1 && tellsFailure(last):
		return statesDoubt, last
	case len(lines) <= 3 && c.hasPhrase(low, doubtPhrases):
		return statesDoubt, first
	}
	return statesNone, ""
}

// onlyError reports whether a sentence consists only of the name of an error: "argument
// validation error".
func onlyError(low string) bool {
	low = strings.TrimRight(low, ".:! ")
	return strings.HasSuffix(low, "error") && len(strings.Fields(low)) <= 5
}

// leastGiven is the minimum length, in bytes, of a line that counts as a repeated
// argument.
const leastGiven = 8

// gave reports whether an argument of the call contains a line.
func (c *Call) gave(line string) bool {
	return len(line) >= leastGiven && slices.ContainsFunc(c.Args, func(a Arg) bool { return strings.Contains(a.Value, line) })
}

// namedState reads lines such as "status: failed" and "success: false".
func (c *Call) namedState(lines []string) statement {
	var fields []field
	for _, line := range lines[:min(len(lines), mostFields)] {
		if key, value, ok := strings.Cut(line, ": "); ok && !strings.Contains(key, " ") && len(value) < maxErrorLine {
			fields = append(fields, field{key: plainKey.Replace(strings.ToLower(key)), kind: '"', text: strings.TrimSpace(value), name: key})
		}
	}
	if len(fields) == 0 || fields[0].name != firstKey(lines[0]) || strings.HasPrefix(fields[0].key, "error") {
		return statesNone
	}
	how, _ := c.recordStates(fields)
	return how
}

func firstKey(line string) string {
	key, _, _ := strings.Cut(line, ": ")
	return key
}

// hasPhrase reports whether a sentence has one of the phrases. A phrase that ends
// with a form of the tool's own verb does not count.
func (c *Call) hasPhrase(low string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool {
		w := strings.Fields(p)
		return strings.Contains(low, p) && !c.asksFor(strings.Trim(w[len(w)-1], ":"))
	})
}

// tellsDeed reports whether a sentence states that the tool's action was done ("order
// cancelled" for the tool cancel_order), or that the action was not done.
func (c *Call) tellsDeed(low string) (did, undone bool) {
	words := strings.FieldsFunc(low, func(r rune) bool { return strings.ContainsRune(" ,.;:!()\"", r) })
	verbs := slices.DeleteFunc(toolWords(c.Tool), func(w string) bool { return !slices.Contains(effects.Verbs, w) })
	for i, w := range words {
		if !slices.ContainsFunc(verbs, func(v string) bool { return pastOf(w, v) }) {
			continue
		}
		if slices.ContainsFunc(words[max(0, i-3):i], func(w string) bool { return slices.Contains(negations, w) }) {
			undone = true
		} else {
			did = true
		}
	}
	return did, undone
}

// pastForms lists the participles that don't end in "ed".
var pastForms = map[string]string{"send": "sent", "pay": "paid", "set": "set", "reset": "reset"}

// pastOf reports whether a word is the participle of a verb.
func pastOf(word, verb string) bool {
	if past := pastForms[verb]; past != "" {
		return word == past
	}
	return strings.HasSuffix(word, "ed") && strings.HasPrefix(word, verb[:min(len(verb), verbStem)])
}
