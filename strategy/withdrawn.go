package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// withdrawn returns the user's steps that the next step of the user takes back. A step whose
// task the next step ends is not among them, because its rules may still hold.
func (h *History) withdrawn() map[int]bool {
	out := map[int]bool{}
	before := -1
	for i := range h.Steps {
		if s := &h.Steps[i]; s.user() && s.Text != "" {
			if _, ok := rules.Withdraws(s.Text); ok && before >= 0 && rules.Cancels(s.Text) == "" {
				out[before] = true
			}
			before = i
		}
	}
	return out
}

// cancels reports whether a sentence of the user in step i ends the task of a step.
func (h *History) cancels(step, i int, t string) bool {
	if h.cancelingIn(i) != t {
		return false
	}
	for i--; i >= 0; i-- {
		if s := &h.Steps[i]; s.user() && s.Text != "" {
			return s.ID == step
		}
	}
	return false
}

// cancelingIn returns the sentence of step i that ends the task of the previous message. Each
// rule asks for it with each later sentence, so it is remembered.
func (h *History) cancelingIn(i int) string {
	t, ok := h.canceling[i]
	if !ok {
		if h.canceling == nil {
			h.canceling = map[int]string{}
		}
		t = rules.Cancels(h.Steps[i].Text)
		h.canceling[i] = t
	}
	return t
}

// liftedBy returns a suffix with the later sentence in which the user lifted or changed a
// rule. The sentence permits an identifier of the ban, lifts the rule in other words, gives
// another value, or ends the task of the rule's message. It returns "" if there is none.
func (h *History) liftedBy(f fact) string {
	names := identifiersIn(f.Text)
	return h.laterSentences(f.Step, func(i int, t string) bool {
		if rules.Lifted(f.Text, t) || rules.Revalued(f.Text, t) || h.endsTaskOf(f.Step, t) || h.cancels(f.Step, i, t) || h.agreesTo(i, f.Text, t) {
			return true
		}
		if accepted := h.acceptedValue(i, t); accepted != "" && rules.AcceptedFor(f.Text, accepted) {
			return true
		}
		if len(names) == 0 || !rules.Forbids(f.Text) || !prose.HasAny(strings.ToLower(t), rules.Permitting) || rules.Forbids(t) {
			return false
		}
		for name := range identifiersIn(t) {
			if names[name] {
				return true
			}
		}
		return false
	})
}

// endsTaskOf reports whether a later sentence ends the task that the message of a rule begins
// with, by its name.
func (h *History) endsTaskOf(step int, later string) bool {
	name := rules.Ends(later)
	s := h.step(step)
	if name == "" || s == nil || !s.user() {
		return false
	}
	text := s.Text
	if rest, ok := rules.Withdraws(text); ok {
		text = rest
	}
	first := ""
	prose.Sentences(text, func(t string, heading bool) {
		if first == "" && !heading {
			first = strings.ToLower(t)
		}
	})
	return hasID(first, []string{name})
}

// identifiersIn returns the identifiers of a text.
func identifiersIn(text string) map[string]bool {
	out := map[string]bool{}
	identifiers(text, func(_ ident.Kind, s string) { out[s] = true })
	return out
}
