package rules

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// narrowing lists phrases between a rule's name and its only field: "the schema rule only applies
// to orders".
var narrowing = []string{" only applies to ", " applies only to ", " only holds for ", " holds only for ", " is only for ", " is only about "}

// narrows reports whether a clause names a rule and narrows it.
func narrows(rule, clause string) bool {
	for _, phrase := range narrowing {
		if name, _, ok := strings.Cut(clause, phrase); ok && !Inquires(clause) {
			return names(rule, name)
		}
	}
	return false
}

// swaps reports whether a sentence replaces a thing that a rule asks for: "spaces instead of
// tabs" changes "use tabs". It agrees with a rule that forbids this thing.
func swaps(rule, later string) bool {
	low := strings.ToLower(later)
	with, of, ok := strings.Cut(low, " instead of ")
	if !ok || Inquires(later) || len(strings.Fields(with)) > mostLifting {
		return false
	}
	of = prose.Clauses(of)[0]
	for _, clause := range prose.Clauses(rule) {
		if !Forbids(clause) && len(topics(of)) > 0 && covers(topics(clause), topics(of)) {
			return true
		}
	}
	return false
}

// covers reports whether a set has all elements of another one.
func covers(all, part map[string]bool) bool {
	for w := range part {
		if !all[w] {
			return false
		}
	}
	return true
}

// changedMind reports whether the user changed their mind about something that a rule names.
func changedMind(rule, later string) bool {
	if !prose.HasAny(strings.ToLower(later), []string{"changed my mind", "change my mind", "on second thought"}) {
		return false
	}
	named := topics(rule)
	for w := range topics(later) {
		if named[w] {
			return true
		}
	}
	return false
}

// endsLimit reports whether a clause that ends something names a limit, and a rule gives one:
// "forget the size limit" ends "at most 2 MB".
func endsLimit(rule, clause string) bool {
	words := strings.Fields(strings.TrimRight(afterDrop(clause), ".!"))
	return prose.HasAny(strings.ToLower(rule), capping) && strings.ContainsAny(rule, "0123456789") && len(words) <= 3 && len(words) > 0 && prose.HasAnyWord(words[len(words)-1], []string{"limit", "cap", "maximum", "budget", "deadline", "quota"})
}

// capping lists words of rules that limit a number.
var capping = []string{" below ", " under ", " at most ", "at most ", " max ", "max. ", " within ", " less than ", " fewer than ", " no more than ", " more than ", " up to ", " by "}

// generic lists words for rules and limits, which name no subject.
var generic = []string{"limit", "thing", "requirement", "restriction", "constraint", "rule", "applies", "apply", "part"}

// exchanges reports whether a sentence with two values in one unit gives the one in place of the
// value of a rule: "make that 5 MB instead of 2 MB", "go from 2 MB to 5 MB".
func exchanges(was, now []quantity, later string) bool {
	if len(now) != 2 || now[0].unit != now[1].unit || now[0].value == now[1].value || !prose.HasAny(" "+strings.ToLower(later), []string{" instead of ", " from ", " rather than ", ", not ", ", nicht ", " statt ", " anstatt ", " anstelle von ", ", pas ", ", et non ", " au lieu de ", ", no ", " en vez de ", " en lugar de ", ", non ", " invece di "}) {
		return false
	}
	for _, q := range was {
		if q.unit == now[0].unit && (q.value == now[0].value || q.value == now[1].value) {
			return true
		}
	}
	return false
}
