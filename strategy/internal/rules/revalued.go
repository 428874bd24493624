package rules

import (
	"maps"
	"slices"
	"strconv"
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
		value := w[:len(w)-len(strings.TrimLeft(w, "0123456789.,–"))]
		if value == "" || !prose.IsDigits(value[:1]) || i > 0 && slices.Contains(counting, strings.Trim(words[i-1], ".,;:")) {
			continue
		}
		unit := w[len(value):]
		if unit == "" && i+1 < len(words) && strings.Trim(words[i], ".,;:!?)") == strings.TrimRight(words[i], ")") {
			unit = strings.Trim(words[i+1], ".,;:!?()\"'“”")
			if unit != "may" && slices.Contains(vague, unit) || len(unit) < 3 && !slices.Contains(shortUnits, unit) || prose.IsDigits(unit[:1]) {
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
		names := topics(before)
		for _, b := range bounding {
			delete(names, wordStem(b)) // "max" names no quantity
		}
		limit := slices.ContainsFunc(strings.Fields(before), func(w string) bool { return slices.Contains(limitNouns, strings.Trim(w, ".,;:()")) })
		out = append(out, quantity{strings.ReplaceAll(value, ",", "."), wordStem(unit), names, limit || prose.HasAnyWord(before, bounding), rate})
	}
	return out
}

// limitNouns lists the nouns of limits.
var limitNouns = strings.Fields("limit budget maximum max cap quota ceiling target deadline obergrenze grenze frist limite plafond budget presupuesto límite tope plazo")

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
	revaluing = append([]string{"now", "instead", "make that", "make it", "rather", "after all", "sorry", "actually", "hmm", "wait", "then", "raise", "lower", "raised", "lowered", "moved", "moves", "postponed", "extended", "cut", "changed", "reduced", "increased", "final", "jetzt", "verschoben", "geändert", "erhöht", "gekürzt", "doch", "lieber", "sondern", "moment", "stattdessen", "dann", "übrigens", "eigentlich", "finalement", "plutôt", "en fait", "désormais", "al final", "en realidad", "mejor", "ahora", "alla fine", "piuttosto"}, bounding...)
	bounding  = []string{"up to", "at most", "at least", "max", "maximum", "no more than", "more than", "bis zu", "höchstens", "maximal", "mindestens"}
)

// mostValued is the maximum number of words of a sentence that changes a quantity without
// naming it. A longer sentence has another subject: "keep the card for the 20 euros and
// charge the rest" changes no limit in euros.
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
	if len(was) == 0 || len(now) == 0 || len(now) > mostValues {
		return false
	}
	if len(now) == 1 {
		return revalues(rule, later, aboutValue(later), was, now[0])
	}
	if exchanges(was, now, later) {
		return true
	}
	return slices.ContainsFunc(prose.Clauses(later), func(part string) bool {
		of := quantitiesIn(part)
		return len(of) == 1 && revalues(rule, later, part, was, of[0])
	})
}

// mostValues is the maximum number of values in a sentence that changes rules. A sentence
// with more is a list.
const mostValues = 2

// revalues reports whether a part of a later sentence, with one value, gives another value for
// one quantity of a rule.
func revalues(rule, later, part string, was []quantity, n quantity) bool {
	words := len(strings.Fields(part))
	changes := prose.HasAnyWord(part, revaluing) && words <= mostValued
	limits := n.bound && words <= mostValued && !anotherSubject(rule, part)
	corrects := TurnsBack(later) && len(was) == 1 && len(strings.Fields(later)) <= mostValued
	same, other := 0, false
	for _, q := range was {
		named := slices.ContainsFunc(slices.Collect(maps.Keys(q.names)), func(w string) bool { return n.names[w] })
		rated := q.rate != "" && q.rate == n.rate && (q.unit == n.unit || q.unit == "" || n.unit == "") && words <= mostValued
		if rated || named && (q.unit == n.unit || q.unit == "" || n.unit == "") || changes && q.unit != "" && q.unit == n.unit || limits && q.bound && (n.unit == "" || q.unit == n.unit) || corrects && q.unit == n.unit || changes && n.unit == "" && q.large(n) && (prose.HasAnyWord(part, refersBack) || !anotherSubject(rule, part)) {
			same++
			other = q.value != n.value
		}
	}
	return same == 1 && other
}

// aboutValue returns the clause of a sentence that has a number, in lower case, with the
// clause before it if the number begins the clause: "deadline moved: 7 May".
func aboutValue(t string) string {
	parts := prose.Clauses(t)
	for i, c := range parts {
		if !strings.ContainsAny(c, "0123456789") {
			continue
		}
		if i > 0 && strings.ContainsAny(c[:1], "0123456789€$£") {
			return parts[i-1] + " " + c
		}
		return c
	}
	return strings.ToLower(t)
}

// anotherSubject reports whether a clause names a subject before its number that a rule does
// not name: "the queue limit is 30" changes no limit of the pool.
func anotherSubject(rule, part string) bool {
	about := topics(part[:strings.IndexAny(part+"0", "0123456789")])
	for _, w := range slices.Concat(limitNouns, bounding, revaluing) {
		delete(about, wordStem(w))
	}
	named := topics(rule)
	for w := range about {
		if named[w] {
			return false
		}
	}
	return len(about) > 0
}

// large reports whether a quantity and another one are sums of about the same size. A later
// sum without a unit is then another value: "the board cut it to 35,000".
func (q quantity) large(n quantity) bool {
	a, b := sumOf(q.value), sumOf(n.value)
	return a >= leastSum && b >= leastSum && a < 3*b && b < 3*a
}

// refersBack lists words with which a sentence gives a value for a thing that it does not name.
var refersBack = []string{"it", "that", "final", "them"}

// leastSum is the smallest sum that sentences repeat without a unit.
const leastSum = 1000

// sumOf returns the whole number of a value with separators of thousands, 0 for another value.
func sumOf(value string) int {
	parts := strings.Split(strings.Trim(value, "."), ".")
	for _, p := range parts[1:] {
		if len(p) != 3 {
			return 0
		}
	}
	n, _ := strconv.Atoi(strings.Join(parts, ""))
	if len(parts) == 1 && n >= 1900 && n < 2100 {
		return 0 // a year
	}
	return n
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
