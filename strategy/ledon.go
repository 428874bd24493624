package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// actsOn returns the number of the step with the calls of an announcement: the step of the
// announcement, or the next one if some wire keeps text and calls in separate messages.
func (h *History) actsOn(step int) int {
	for i := range h.Steps {
		if h.Steps[i].ID != step || len(h.Steps[i].Calls) > 0 || i+1 == len(h.Steps) {
			continue
		}
		if next := &h.Steps[i+1]; next.Role == message.RoleAssistant && next.Text == "" && len(next.Calls) > 0 {
			return next.ID
		}
	}
	return step
}

// ledOn reports whether later calls carried out an announcement that came without calls.
// Before a new message of the user, every call counts. After such a message, only a call
// that names a word of the announcement counts. If the announcement names nothing ("I'll
// have that taken out"), every call counts, because a return to the announcement could undo
// a later request of the user. If many texts followed an announcement, it is not a next
// step either.
func (h *History) ledOn(announced fact) bool {
	words := thingsIn(announced.Text)
	spoke, led, texts := false, false, 0
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.ID <= announced.Step {
			continue
		}
		spoke = spoke || s.user() && s.Text != ""
		if s.Role == message.RoleAssistant && s.Text != "" {
			texts++
		}
		for k := range s.Calls {
			if c := &s.Calls[k]; c.Answered && (!spoke || len(words) == 0 || c.names(words)) {
				led = true
			}
		}
	}
	return led || texts > mostTexts
}

// mostTexts is the number of later texts of the assistant, and of the agents that it talks
// to, after which an announcement is not a next step.
const mostTexts = 3

// names reports whether an argument of a call contains one of the words.
func (c *Call) names(words []string) bool {
	for _, a := range c.Args {
		if prose.HasAny(strings.ToLower(a.Value), words) {
			return true
		}
	}
	return false
}

// objectless lists words that are long enough but name no object.
var objectless = map[string]bool{"going": true, "first": true, "again": true, "after": true, "before": true, "still": true, "should": true, "would": true, "could": true, "there": true, "these": true, "those": true,
	"other": true, "their": true, "which": true, "while": true, "until": true, "taken": true, "proceed": true, "continue": true, "start": true, "begin": true, "finish": true, "thing": true, "things": true,
	"everything": true, "something": true, "change": true, "changes": true, "write": true, "create": true, "update": true, "check": true, "verify": true, "implement": true, "remove": true, "about": true}

// thingsIn returns the longer words of an announcement that can name its object, in lower
// case.
func thingsIn(text string) []string {
	var out []string
	parts(text, func(w string) {
		if !objectless[w] {
			out = prose.AppendNew(out, w)
		}
	})
	return out
}
