package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A quantity is a number in a sentence with the words around it.
type quantity struct {
	value string
	unit  string          // stem of the sign or word after the number, "" if there is none
	names map[string]bool // stems of the words right before the number
	bound bool            // the number is a limit
	rate  string          // stem of the word after "per", "" if there is none
}

// nearWords is the number of words before a number that may name the quantity.
const nearWords = 3

// counting lists words before a number that is a name and no quantity: "step 3".
var counting = strings.Fields("issue issues step steps option options section pr line lines page phase task ticket item part chapter case test example figure node port id number no schritt punkt seite zeile teil kapitel fall nummer port")

// shortUnits lists the units of fewer than three letters.
var shortUnits = strings.Fields("ms kb mb gb tb am pm cm mm km kg hz px pt h s m g")

// quantitiesIn returns the quantities of a sentence.
func quantitiesIn(t string) []quantity {
	var out []quantity
	words := strings.Fields(strings.ToLower(t))
	for i, w := range words {
		w = strings.Trim(w, ".,;:!?()\"'“”$€£")
		value := w[:len(w)-len(strings.TrimLeft(w, "0123456789.,"))]
		if value == "" || !prose.IsDigits(value[:1]) || i > 0 && slices.Contains(counting, strings.Trim(words[i-1], ".,;:")) {
			continue
		}
		unit := w[len(value):]
		if unit == "" && i+1 < len(words) && strings.Trim(words[i], ".,;:!?)") == strings.TrimRight(words[i], ")") {
			unit = strings.Trim(words[i+1], ".,;:!?()\"'“”")
			if slices.Contains(vague, unit) || len(unit) < 3 && !slices.Contains(shortUnits, unit) || prose.IsDigits(unit[:1]) {
				unit = ""
			}
		} else if strings.ContainsAny(unit, "./:-_@") {
			continue // a version, a date, a name
		}
		rate := rateOf(words[i+1:])
		if unit == "per" {
			unit = ""
		}
		before := strings.Join(words[max(0, i-nearWords):i], " ")
		out = append(out, quantity{strings.ReplaceAll(value, ",", "."), wordStem(unit), topics(before), prose.HasAnyWord(before, bounding), rate})
	}
	return out
}

// perWords lists the words between a number and the unit of its rate.
var perWords = []string{"per", "pro", "par", "por"}

// rateOf returns the unit of the rate in the words after a number: "100 requests per
// minute".
func rateOf(words []string) string {
	for i := range min(len(words)-1, 2) {
		if slices.Contains(perWords, words[i]) {
			return wordStem(strings.Trim(words[i+1], ".,;:!?()"))
		}
	}
	return ""
}

// Phrases of sentences that give a new value. bounding lists phrases that give a limit.
var (
	revaluing = append([]string{"now", "instead", "make that", "make it", "rather", "after all", "sorry", "actually", "hmm", "wait", "then", "raise", "lower", "jetzt", "doch", "lieber", "sondern", "moment", "stattdessen", "dann"}, bounding...)
	bounding  = []string{"up to", "at most", "at least", "max", "maximum", "no more than", "more than", "bis zu", "höchstens", "maximal", "mindestens"}
)

// shortValue is the maximum number of words of a sentence that only gives a value.
const shortValue = 6

// mostValued is the maximum number of words of a sentence whose value is for a quantity that
// it does not name. A longer sentence has another subject: "keep the card for the 20 euros
// and charge the rest" changes no limit in euros.
const mostValued = 10

// Revalued reports whether a later sentence of the user gives another value for a
// quantity of a rule. The quantity has the same name, or the same unit if the sentence
// changes something, or none in a short sentence with a limit, or in a correction.
func Revalued(rule, later string) bool {
	rule, _, _ = strings.Cut(rule, " [s")
	low := strings.ToLower(later)
	if Inquires(low) {
		return false
	}
	was, now := quantitiesIn(rule), quantitiesIn(later)
	if len(was) == 0 || len(now) != 1 {
		return false
	}
	words := len(strings.Fields(later))
	changes, n := prose.HasAnyWord(low, revaluing) && words <= mostValued, now[0]
	limits := n.bound && words <= shortValue
	corrects := TurnsBack(later) && len(was) == 1 && words <= mostValued
	same, other := 0, false
	for _, q := range was {
		named := slices.ContainsFunc(slices.Collect(maps.Keys(q.names)), func(w string) bool { return n.names[w] })
		rated := q.rate != "" && q.rate == n.rate && (q.unit == n.unit || q.unit == "" || n.unit == "") && words <= mostValued
		if rated || named && (q.unit == n.unit || q.unit == "" || n.unit == "") || changes && q.unit != "" && q.unit == n.unit || limits && q.bound && (n.unit == "" || q.unit == n.unit) || corrects && q.unit == n.unit {
			same++
			other = q.value != n.value
		}
	}
	return same == 1 && other
}

// AcceptedFor reports whether a rule has exactly one quantity in the unit of an accepted
// value, with another value.
func AcceptedFor(rule, accepted string) bool {
	value, unit, _ := strings.Cut(accepted, " ")
	rule, _, _ = strings.Cut(rule, " [s")
	words := strings.Fields(rule)
	same, other := 0, false
	for k, w := range words {
		w = strings.Trim(w, ".,;:!?()")
		v := w[:len(w)-len(strings.TrimLeft(w, "0123456789.,"))]
		u := w[len(v):]
		if u == "" && v != "" && k+1 < len(words) {
			u = strings.Trim(words[k+1], ".,;:!?()")
		}
		if v != "" && strings.EqualFold(u, unit) {
			same++
			other = v != value
		}
	}
	return same == 1 && other
}
