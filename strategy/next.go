package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
)

// nextLines say what comes next: the step that was announced last, the
// question that nobody answered, the list that the assistant wrote last.
func (h *History) nextLines(section int) []Line {
	var out []Line
	add := func(f Fact, prefix string) {
		if f.Text != "" {
			out = append(out, Line{Section: section, Text: prefix + f.Text + " " + stepID(f.Step), Value: f.Value, Order: f.Step})
		}
	}
	announced := h.announced()
	switch {
	case announced.Text == "":
	case h.begun(announced.Step):
		announced.Text += " (its calls have returned)"
	case h.answeredSince(announced.Step):
		announced.Text += " (the user has spoken since)"
	}
	add(announced, "announced last: ")
	add(h.unanswered(), "asked the user, and no answer stands in this part: ")
	add(h.lastList(), "the plan as it was last written: ")
	for _, f := range h.Next() {
		add(f, "")
	}
	return out
}

// announcements begin sentences that say what is done next.
var announcements = []string{"i'll ", "i will ", "i'm going to ", "i am going to ", "let me ", "let's ", "now let me ", "now i'll ", "now i ", "now let's ", "next,", "next i", "next step", "i need to ", "i should ",
	"going to ", "then i'll", "first, i'll ", "first i'll", "now ", "next ", "接下来", "现在", "让我"}

// announces reports whether a sentence says what is done next.
func announces(t string) bool {
	low := strings.ReplaceAll(strings.ToLower(t), "’", "'")
	return beginsAny(low, announcements) || strings.Contains(low, ", then i'll ") || atIt(low)
}

// states are what somebody does without doing anything.
var states = []string{"seeing", "thinking", "wondering", "noticing", "assuming", "hoping", "having", "missing", "guessing", "being", "feeling", "considering", "leaning", "relying", "suspecting"}

// atIt reports whether a sentence says what its speaker is at: "I'm marking the
// task as done".
func atIt(low string) bool {
	for _, head := range []string{"i'm ", "i am ", "now i'm "} {
		rest, ok := strings.CutPrefix(low, head)
		if !ok {
			continue
		}
		verb, _, _ := strings.Cut(strings.TrimPrefix(rest, "now "), " ")
		return strings.HasSuffix(verb, "ing") && !slices.Contains(states, verb)
	}
	return false
}

// announced is the sentence in which the assistant last said what it does next.
func (h *History) announced() Fact {
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant || s.Text == "" {
			continue
		}
		last := ""
		sentences(s.Text, func(t string, heading bool) {
			if _, rest, ok := strings.Cut(t, ". "); ok && !announces(t) {
				t = rest // "Good catch. Let me look again"
			}
			if !heading && len(t) > 8 && announces(t) {
				last = t
			}
		})
		if last != "" {
			return Fact{s.ID, clip(squash(last), maxSentence), announcedValue}
		}
	}
	return Fact{}
}

// begun reports whether the calls of a step have all been answered, so that what
// it announced has been done, or tried.
func (h *History) begun(step int) bool {
	for i := range h.Steps {
		if s := &h.Steps[i]; s.ID == step {
			for k := range s.Calls {
				if !s.Calls[k].Answered {
					return false
				}
			}
			return len(s.Calls) > 0
		}
	}
	return false
}

// answeredSince reports whether the user said something after a step.
func (h *History) answeredSince(step int) bool {
	for i := len(h.Steps) - 1; i >= 0 && h.Steps[i].ID > step; i-- {
		if s := &h.Steps[i]; s.user() && s.Text != "" {
			return true
		}
	}
	return false
}

// announcedValue puts the next step before everything that is only known.
const announcedValue = 5

// unanswered is the question at the end of the part, if it ends with one.
func (h *History) unanswered() Fact {
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		if s.user() && s.Text != "" {
			return Fact{}
		}
		for k := range s.Calls {
			if c := &s.Calls[k]; c.deed() == AskingUser && !c.Answered {
				return Fact{s.ID, quoted(c.arg("question", "questions", "text", "prompt"), 200), announcedValue}
			}
		}
		if s.Role != message.RoleAssistant || s.Text == "" {
			continue
		}
		if len(s.Calls) > 0 {
			return Fact{}
		}
		question := ""
		sentences(s.Text, func(t string, _ bool) {
			if strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") {
				question = t
			}
		})
		return Fact{s.ID, clip(squash(question), maxSentence), announcedValue}
	}
	return Fact{}
}
