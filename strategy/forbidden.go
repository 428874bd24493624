package strategy

import (
	"slices"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// forbiddenMark precedes, in the line of an item, the step in which the user forbade it.
const forbiddenMark = " (the user forbade it "

// markForbidden marks the open items that a later message of the user forbids. Such an
// item is blocked: an agent that works through a list would otherwise carry out the
// forbidden item.
func (h *History) markForbidden(list []item) {
	if !slices.ContainsFunc(list, func(it item) bool { return !it.Status.finished() }) {
		return
	}
	var bans []userSentence // prohibitions that still hold
	h.eachSaid(func(one userSentence) {
		for i := range list {
			if it := &list[i]; it.forbidden != "" && rules.Demands(one.text, it.Text) && one.step > lastStep(it.forbidden) {
				it.forbidden = "" // in the previous summary
			}
		}
		bans = slices.DeleteFunc(bans, func(ban userSentence) bool {
			return rules.Demands(one.text, ban.text) || rules.Lifted(ban.text, one.text)
		})
		if rules.Forbids(one.text) || rules.Negates(one.text) {
			bans = append(bans, one)
		}
	})
	for i := range list {
		it := &list[i]
		if it.Status.finished() {
			it.forbidden = ""
			continue
		}
		for _, ban := range bans {
			if rules.ForbidsItem(ban.text, it.Text) {
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
