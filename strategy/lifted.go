package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// laterSentences returns the last sentences of the user after a step that satisfy a
// condition, as a suffix for a line. A rule can have two values that change one after the
// other, so the last sentence alone is not enough.
func (h *History) laterSentences(step int, is func(i int, t string) bool) string {
	var later []string
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.ID <= step || !s.user() {
			continue
		}
		prose.Sentences(s.Text, func(t string, heading bool) {
			if !heading && is(i, t) {
				later = append(later, thenSaid+"“"+prose.Clip(prose.Squash(t), remarkWords)+"” "+stepID(s.ID))
			}
		})
	}
	return strings.Join(later[max(0, len(later)-mostLater):], "")
}

// mostLater is the maximum number of later sentences about one rule.
const mostLater = 2

// thenSaid precedes a later sentence of the user about the text of a line.
const thenSaid = "; the user then said "
