package rules

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Verbs that keep a thing, and verbs that end it.
var (
	keepingVerbs = strings.Fields("keep retain behalte behalten lass garde gardez conserve conservez conserva mantén guarda")
	endingVerbs  = strings.Fields("cancel drop delete remove discard storniere stornieren lösche löschen entferne entfernen annule annulez supprime supprimez cancela anula borra elimina")
)

// reversed reports whether a later sentence ends a thing that a rule keeps: "cancel the flight too"
// after "keep the flight".
func reversed(rule, later string) bool {
	if Inquires(strings.ToLower(later)) || Forbids(later) {
		return false
	}
	for _, clause := range prose.Clauses(rule) {
		kept := objectOf(clause, keepingVerbs)
		if len(kept) == 0 || Forbids(clause) {
			continue
		}
		for _, c := range prose.Clauses(later) {
			if ended := objectOf(c, endingVerbs); len(ended) > 0 && covers(ended, kept) {
				return true
			}
		}
	}
	return false
}

// objectOf returns the topics behind the first of the verbs in a clause.
func objectOf(clause string, verbs []string) map[string]bool {
	words := strings.Fields(clause)
	at := slices.IndexFunc(words, func(w string) bool { return slices.Contains(verbs, strings.Trim(w, ",.;:!()")) })
	if at < 0 {
		return nil
	}
	out := topics(strings.Join(words[at+1:], " "))
	for _, also := range []string{"too", "also", "well", "auch", "aussi", "también"} {
		delete(out, wordStem(also))
	}
	return out
}
