package rules

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Phrases with which users change their mind about an earlier sentence. A phrase of
// lifting permits an action, and lifts only a rule that restricts. A phrase of waiving
// says that something is not needed, and ends only a rule that forbids nothing. The
// phrases of dropping, and the beginnings in dropStarts, end a rule of any kind. A phrase
// of notLifting changes nothing.
var (
	lifting = []string{"you may ", "you can ", "you could ", "may now ", "feel free to ", "go ahead and ", " is fine", " are fine", " is ok", " are ok", "'s ok", "'s fine", " is allowed", " are allowed", "allowed now", "allowed again", "ok now", "okay now", "fine now",
		"erlaubt", "du darfst ", "darfst du ", "dürfen jetzt", "darf jetzt", "kannst du jetzt", "du kannst ", "ruhig ", " ist ok", " sind ok", "in ordnung"}
	waiving    = []string{"don't need ", "do not need ", "don't have to ", "do not have to ", "no need to ", "no longer need", "no longer have to ", "no longer require", "no longer necessary", "nicht mehr nötig", "brauchst nicht", "brauche nicht", "brauchen nicht", "musst nicht mehr", "muss nicht mehr", "nicht mehr brauchen"}
	dropping   = []string{"after all ", "instead ", "doch ", "stattdessen ", "gilt nicht mehr", "no longer applies", "no longer valid"}
	dropStarts = []string{"forget about ", "forget ", "never mind the ", "nevermind the ", "disregard the ", "disregard what i said about ", "please disregard the ", "please ignore the rule ", "please ignore what i said about ", "don't worry about ", "scrap ", "drop the ", "lift the ", "laisse tomber ", "laissez tomber ", "oublie ", "oubliez ", "olvida ", "olvídate de ", "esquece ", "esqueça ", "ignore the rule ", "ignore what i said about ", "vergiss ", "vergesst "}
	notLifting = []string{"may not ", "can not ", "cannot ", "can't ", "darfst nicht", "kannst nicht", "instead of ", "forget to ", "not allowed", "n't allowed", "not fine", "not ok", "nicht erlaubt", "nicht in ordnung", "you can see", "you can find", "you may see", "you may find", "you may notice", "you can tell", "du kannst sehen"}
)

// A changeOfMind is the effect of a clause on an earlier rule.
type changeOfMind struct{ permits, waives, ends bool }

// changes returns the effect that a clause may have on an earlier rule.
func changes(clause string) changeOfMind {
	bare := strings.TrimRight(clause, ".! ") + " "
	waives := prose.HasAny(bare, waiving)
	if prose.BeginsAny(bare, []string{"don't worry about ", "never mind the "}) {
		return changeOfMind{ends: true}
	}
	if prose.HasAny(bare, notLifting) || Forbids(bare) && !waives || Inquires(clause) {
		return changeOfMind{}
	}
	ends := prose.BeginsAny(bare, dropStarts)
	for _, w := range dropping {
		at := strings.Index(bare, w)
		if at < 0 || at > 0 && prose.IsWordByte(bare[at-1]) {
			continue
		}
		if rest := strings.TrimSpace(bare[at+len(w):]); w != "after all " || rest == "" || prose.BeginsAny(rest, []string{"now", "then"}) { // not "after all tests"
			ends = true
		}
	}
	return changeOfMind{permits: prose.HasAny(bare, lifting), waives: waives, ends: ends}
}

// mostLifting is the maximum number of meaningful words in a clause that lifts a rule. A
// longer clause is about something else as well.
const mostLifting = 5

// Lifted reports whether a later sentence of the user lifts a rule: one of its clauses
// permits or ends something, and the rule names most of the objects in the clause. A
// permission counts only for the clauses of the rule that restrict.
func Lifted(rule, later string) bool {
	rule, _, _ = strings.Cut(rule, " [s")
	var banned []string
	for _, clause := range prose.Clauses(rule) {
		if restricts(clause) {
			banned = append(banned, clause)
		}
	}
	if swaps(rule, later) || changedMind(rule, later) || reversed(rule, later) {
		return true
	}
	for _, clause := range prose.Clauses(later) {
		c := changes(clause)
		switch {
		case narrows(rule, clause), c.ends && endsLimit(rule, clause):
			return true
		case c.ends, c.waives && !Forbids(rule):
			if names(rule, afterDrop(clause)) {
				return true
			}
		case c.permits && names(strings.Join(banned, " "), clause):
			return true
		}
	}
	return false
}

// afterDrop returns a clause without the phrase of dropStarts at its beginning.
func afterDrop(clause string) string {
	for _, w := range dropStarts {
		if rest, ok := strings.CutPrefix(clause, w); ok {
			return rest
		}
	}
	return clause
}

// names reports whether a rule names most of the objects that a clause names.
func names(rule, clause string) bool {
	named, about, shared := topics(rule), topics(strings.ReplaceAll(clause, "-", " ")), 0
	for _, w := range generic {
		if len(about) > 1 {
			delete(about, wordStem(w))
		}
	}
	for w := range about {
		if named[w] || named[w+"s"] { // stems keep the ending of short words
			shared++
		}
	}
	return shared > 0 && len(about) <= mostLifting && 2*shared >= len(about)
}

// restricts reports whether a rule forbids or limits something.
func restricts(rule string) bool {
	low := " " + strings.ToLower(rule)
	return Forbids(rule) || prose.HasAny(low, []string{" no ", " not ", "only ", " at most ", " below ", " under ", " less than ", " fewer than ", " more than ", " within ", " exceed", " max ", " max. ", " until ", " unless ", " nur ", " kein", " nicht ", " nie ", " niemals ", " höchstens ", "不", "勿", "禁"})
}

// topics returns the stems of the words that name the subject of a text.
func topics(text string) map[string]bool {
	out := map[string]bool{}
	text, _, _ = strings.Cut(text, " [s")
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t\n,.;:!?()[]\"'`“”„’*", r) }) {
		if !slices.Contains(vague, w) && (len(w) > 2 || prose.IsDigits(w)) {
			out[wordStem(w)] = true
		}
	}
	return out
}

// wordStem removes the endings of a word, so that its forms agree: "calls", "calling".
func wordStem(w string) string {
	for _, end := range []string{"ing", "ed", "s", "en", "n", "e"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) >= 4 && !strings.HasSuffix(rest, "s") {
			w = rest
		}
	}
	return strings.TrimSuffix(w, "e")
}

// vague lists words that do not name the subject of a sentence.
var vague = strings.Fields(`the and but for with without from into onto than then this that these those there here they them their its it's your you're you yours our ours
	all any anything every everything some more most much many one once again ever never always only just also too very even still yet now after before until unless while
	are was were been being have has had does did done can could may might must shall should will would want wants wanted need needs let lets let's
	use uses used using make makes made take takes get gets put set keep keeps please okay fine allowed allow free feel ahead forget ignore scrap rule said say says
	instead actually wait sorry longer anymore not don't dont doesn't didn't isn't aren't mustn't cannot can't won't nor what which when where who how why because since about
	der die das den dem des ein eine einen einem einer und oder aber auch nur noch nicht kein keine keinen keiner nie niemals immer jetzt doch ruhig bitte mehr wieder schon mal
	ist sind war waren wird werden wurde hat haben hatte darf darfst dürfen kann kannst können soll sollst sollen muss musst müssen erlaubt ordnung vergiss vergesst stattdessen
	ich du wir ihr sie mir mich dir dich uns euch nimm nehmen nutze nutzen benutze benutzen verwende verwenden mach machen wenn weil für mit ohne bei vom zum zur gilt`)

// Forbids reports whether a sentence forbids something.
func Forbids(t string) bool {
	low := strings.ReplaceAll(strings.ToLower(t), "’", "'")
	return prose.HasAny(low, []string{"never ", "do not ", "don't ", "dont ", "must not ", "mustn't ", "not allowed", "should not ", "shouldn't ", "avoid ", "without "})
}
