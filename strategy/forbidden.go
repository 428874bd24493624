package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// forbiddenMark precedes, in the line of an item, the step in which the user forbade it.
const forbiddenMark = " (the user forbade it "

// markForbidden marks the open items that a later message of the user forbids. Such an
// item is blocked: an agent that works through a list would otherwise carry out the
// forbidden item.
func (h *History) markForbidden(list []item) {
	if !slices.ContainsFunc(list, func(it item) bool { return it.Status != itemDone }) {
		return
	}
	var bans []userSentence // prohibitions that still hold
	h.eachSaid(func(one userSentence) {
		for i := range list {
			if it := &list[i]; it.forbidden != "" && demands(one.text, it.Text) && one.step > lastStep(it.forbidden) {
				it.forbidden = "" // in the previous summary
			}
		}
		bans = slices.DeleteFunc(bans, func(ban userSentence) bool { return demands(one.text, ban.text) || lifted(ban.text, one.text) })
		if forbids(one.text) || negates(one.text) {
			bans = append(bans, one)
		}
	})
	for i := range list {
		it := &list[i]
		if it.Status == itemDone {
			it.forbidden = ""
			continue
		}
		for _, ban := range bans {
			if forbidsItem(ban.text, it.Text) {
				it.forbidden = stepID(ban.step)
			}
		}
		if it.forbidden != "" {
			it.Status, it.Active = itemBlocked, false
		}
	}
}

// A userSentence is one sentence of the user.
type userSentence struct {
	step int
	text string
}

// eachSaid calls f for each sentence of the user, including sentences of the previous
// summary, in order.
func (h *History) eachSaid(f func(one userSentence)) {
	tell := func(step int, text string) {
		prose.Sentences(text, func(t string, heading bool) {
			if !heading {
				f(userSentence{step, t})
			}
		})
	}
	for _, w := range h.Previous.Words {
		tell(w.Step, withoutNotes(w.Text))
	}
	for i := range h.Steps {
		if s := &h.Steps[i]; s.user() {
			tell(s.ID, s.Text)
		}
	}
}

// banWords lists the words before the verb that a clause forbids.
var banWords = []string{"don't ", "dont ", "do not ", "must not ", "never ", "mustn't ", "shouldn't ", "should not "}

// negates reports whether a German sentence denies something.
func negates(t string) bool {
	low := " " + strings.ToLower(t) + " "
	return prose.HasAny(low, []string{" nicht ", " nicht.", " nicht!", " kein", " niemals ", " nie "})
}

// forbidsItem reports whether a sentence of the user forbids an item of work: a clause
// forbids its verb with the same object, or in German negates all its words.
func forbidsItem(t, item string) bool {
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
		if all := topics(item); negates(clause) && len(all) > 1 && contains(topics(clause), all) {
			return true
		}
	}
	return false
}

// demands reports whether a sentence of the user asks for the action in an earlier
// text: a clause begins with the verb of that text and names its object.
func demands(t, earlier string) bool {
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
		if v != "" && v == verb && len(object) > 0 && contains(o, object) && !forbids(t) && !strings.HasSuffix(t, "?") {
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
