package strategy

import "github.com/agentcompact/compact/strategy/internal/prose"

// laterSentence returns the last sentence of the user after a step that satisfies a
// condition, as a suffix for the line of that step. It returns "" if there is none.
func (h *History) laterSentence(step int, is func(i int, t string) bool) string {
	later := ""
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.ID <= step || !s.user() {
			continue
		}
		prose.Sentences(s.Text, func(t string, heading bool) {
			if !heading && is(i, t) {
				later = thenSaid + "“" + prose.Clip(prose.Squash(t), remarkWords) + "” " + stepID(s.ID)
			}
		})
	}
	return later
}

// thenSaid precedes a later sentence of the user about the text of a line.
const thenSaid = "; the user then said "
