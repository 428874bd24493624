package rules

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// banWords lists the words before the verb that a clause forbids.
var banWords = []string{"don't ", "dont ", "do not ", "must not ", "never ", "mustn't ", "shouldn't ", "should not "}

// Negates reports whether a German sentence denies something.
func Negates(t string) bool {
	low := " " + strings.ToLower(t) + " "
	return prose.HasAny(low, []string{" nicht ", " nicht.", " nicht!", " kein", " niemals ", " nie "})
}

// ForbidsItem reports whether a sentence of the user forbids an item of work: a clause
// forbids its verb with the same object, or in German negates all its words.
func ForbidsItem(t, item string) bool {
	verb, object := verbAndObject(item)
	if verb == "" || len(object) == 0 || strings.HasSuffix(t, "?") {
		return false
	}
	for _, clause := range prose.Clauses(t) {
		for _, ban := range banWords {
			at := strings.Index(" "+clause, " "+ban)
			if at < 0 {
				continue
			}
			v, o := verbAndObject(clause[at+len(ban):])
			if v == verb && len(o) > 0 && (contains(o, object) || contains(object, o)) {
				return true
			}
		}
		if all := topics(item); Negates(clause) && len(all) > 1 && contains(topics(clause), all) {
			return true
		}
	}
	return false
}

// Demands reports whether a sentence of the user asks for the action in an earlier
// text: a clause begins with the verb of that text and names its object.
func Demands(t, earlier string) bool {
	for _, ban := range banWords {
		if i := strings.Index(strings.ToLower(earlier), ban); i >= 0 {
			earlier = prose.Clauses(earlier[i+len(ban):])[0]
		}
	}
	verb, object := verbAndObject(earlier)
	for _, clause := range prose.Clauses(t) {
		for _, before := range []string{"ok ", "okay ", "now ", "please ", "then ", "so "} {
			clause = strings.TrimPrefix(clause, before)
		}
		v, o := verbAndObject(clause)
		if v != "" && v == verb && len(object) > 0 && contains(o, object) && !Forbids(t) && !strings.HasSuffix(t, "?") {
			return true
		}
	}
	return false
}

// verbAndObject returns the stem of the first word of an instruction, and the stems of
// the words for its object.
func verbAndObject(t string) (verb string, object map[string]bool) {
	first, rest, _ := strings.Cut(strings.TrimSpace(strings.ToLower(t)), " ")
	return wordStem(strings.Trim(first, ".,:;!")), topics(rest)
}

// contains reports whether a set has all elements of another.
func contains(set, other map[string]bool) bool {
	for w := range other {
		if !set[w] {
			return false
		}
	}
	return true
}
