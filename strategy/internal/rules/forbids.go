package rules

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// mostForbidding is the maximum length, in words, of a sentence that forbids a thing ("no
// new dependencies").
const mostForbidding = 10

// answering lists words after a "no" that forbids nothing. Such a "no" is an answer, or
// states that something does not exist.
var answering = []string{"problem", "problems", "worries", "need", "idea", "i", "it", "its", "it's", "the", "that", "that's", "this", "there", "these", "they", "he", "she", "we", "you", "your", "my", "wonder", "rush", "further", "other", "way", "longer", "one", "matter", "doubt", "such", "more", "response", "reply", "issue", "issues",
	"change", "changes", "error", "errors", "output", "luck", "result", "results", "difference", "effect", "success", "answer", "clue", "thanks", "sign", "question", "questions", "but", "just", "let's", "don't", "not", "and", "so", "what", "why", "how", "if", "is", "as", "in", "on", "for", "please", "wait", "sorry", "actually", "thank", "match", "matches", "files", "file", "preference", "objections", "objection", "particular", "specific", "warnings", "failures", "because", "only"}

// forbidsThing reports whether a short sentence forbids a thing.
func forbidsThing(low string) bool {
	words := strings.Fields(low)
	if n := len(words); n < 2 || n > mostForbidding || n == 2 && !strings.HasSuffix(low, "!") {
		return false
	}
	switch words[0] {
	case "no", "keine", "kein", "keinen", "pas":
	default:
		return false
	}
	if slices.Contains(answering, strings.Trim(words[1], ".,!;:")) && !changesHow(words) || strings.HasSuffix(words[1], ",") {
		return false
	}
	return !slices.ContainsFunc(words[2:], func(w string) bool {
		return slices.Contains([]string{"is", "are", "was", "were", "has", "have", "had", "found", "ran", "exists", "exist", "failed", "arrived", "appeared", "changed", "returned", "matched", "came", "passed", "showed", "left", "happens", "happened", "works", "know", "ist", "sind"}, strings.Trim(w, ".,!"))
	})
}

// changesHow reports whether "no changes" forbids changes of a kind: "no changes to main".
func changesHow(words []string) bool {
	return strings.HasPrefix(words[1], "change") && len(words) > 3 && slices.Contains([]string{"shorter", "longer", "larger", "to", "without", "before", "after", "outside", "beyond"}, words[2]) && words[3] != "report"
}

// lastingWords lists words that make a sentence a lasting rule, even if it also asks for
// something.
var lastingWords = []string{"always", "never", "ever", "any", "anything", "every", "all", "from now on", "in general", "again", "immer", "nie", "jamais", "toujours", "siempre", "nunca"}

// NowOnly lists beginnings of clauses that ask for one step, after a prohibition.
var NowOnly = []string{"just ", "then ", "first ", "now ", "please ", "let's "}

// OneOff reports whether a rule is part of a request for one step. In that case another
// clause of the sentence asks for something. A clause after a prohibition at the
// beginning mostly names the action in place of the forbidden one: "don't rewrite it,
// make small edits".
func OneOff(t string) bool {
	low := strings.ReplaceAll(strings.ToLower(t), "’", "'")
	for w := range strings.FieldsFuncSeq(low, func(r rune) bool { return strings.ContainsRune(" ,.!;:()", r) }) {
		if slices.Contains(lastingWords, w) {
			return false
		}
	}
	first, forbidden := true, false
	for clause := range strings.FieldsFuncSeq(strings.NewReplacer(" but ", ",", " and ", ",", " then ", ",").Replace(low), func(r rune) bool { return r == ',' || r == ';' }) {
		clause = strings.TrimSpace(clause)
		if TellsToDo(clause) && Binds(clause) == 0 && !(forbidden && !prose.BeginsAny(clause, NowOnly)) {
			return true
		}
		forbidden = forbidden || first && prose.BeginsAny(clause, []string{"don't ", "do not ", "dont ", "please don't ", "please do not ", "pls don't "})
		first = false
	}
	return false
}

// LastingPart returns the part of a rule that still holds after its request was done: "merge
// it already, but don't push" is "… don't push".
func LastingPart(t string) string {
	low := strings.ReplaceAll(t, "’", "'")
	for _, ban := range []string{" but don't ", " but do not ", " but never ", " but not ", " but without "} {
		at := strings.LastIndex(low, ban)
		if at < 0 || len(low) != len(t) {
			continue
		}
		before := strings.ToLower(t[strings.LastIndex(t[:at], ". ")+1 : at])
		if ordersMore(bareClause(before)) && Binds(before) == 0 {
			return "… " + strings.TrimSpace(t[at+len(" but "):])
		}
	}
	return t
}

// addressing lists words after which "never" and "don't" tell somebody to do
// something.
var addressing = []string{"please", "you", "we", "and", "but", "so", "or", "then", "just", "also", "to", "must", "should", "pls", "again"}
