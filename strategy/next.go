package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
)

// nextLines returns lines about what comes next: a request without a reply, the
// step announced last, a question without an answer, the assistant's last list,
// and what it called open.
func (h *History) nextLines(section int) []Line {
	var out []Line
	add := func(f Fact, prefix string) {
		if f.Text != "" {
			out = append(out, Line{Section: section, Text: prefix + f.Text + " " + stepID(f.Step), Value: f.Value, Order: f.Step})
		}
	}
	add(h.waiting(), notReplied)
	announced := h.announced()
	add(announced, h.announcedHow(announced.Step))
	add(h.unanswered(), "asked the user, and no answer stands in this part: ")
	add(h.lastList(), "a plan that the assistant wrote, which later steps may have carried out: ")
	for _, f := range h.Next() {
		if f.Text == announced.Text {
			continue
		}
		add(f, "said to be still open: ")
	}
	return out
}

// announcedHow returns the introduction of the step that was announced last.
func (h *History) announcedHow(step int) string {
	switch {
	case h.begun(step):
		return "announced last, and already run: "
	case h.answeredSince(step):
		return "announced last, before the user spoke again: "
	}
	return "announced last: "
}

// waiting returns the newest request if the assistant has replied only with
// calls and text beside them. It returns nothing if a request stays in view,
// because that one may be newer.
func (h *History) waiting() Fact {
	if h.asked != "" {
		return Fact{}
	}
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		switch {
		case s.Role == message.RoleAssistant && s.Speaker == "" && s.Text != "" && len(s.Calls) == 0:
			return Fact{}
		case s.user() && s.Text != "":
			if asked := wanted(s.ID, s.Text); len(asked) > 0 {
				return Fact{s.ID, newestHere, announcedValue}
			}
			return Fact{}
		}
	}
	return h.stillWaiting()
}

// Text of a request without a reply. The user's words above quote it.
const (
	notReplied = "not replied to in this part: "
	newestHere = "the newest request"
)

// stillWaiting returns the request that the previous summary reports as not
// replied to.
func (h *History) stillWaiting() (f Fact) {
	h.Previous.all(func(lines []string) []string {
		for _, l := range lines {
			if rest, ok := strings.CutPrefix(l, notReplied); ok {
				f = Fact{lastStep(rest), withoutSteps(rest), announcedValue}
			}
		}
		return lines
	})
	return f
}

// announcements lists beginnings of sentences that announce a step.
var announcements = []string{"i'll ", "i will ", "i'm going to ", "i am going to ", "let me ", "let's ", "now let me ", "now i'll ", "now i ", "now let's ", "next,", "next i", "next step", "i need to ", "i should ",
	"going to ", "then i'll", "first, i'll ", "first i'll", "now ", "next ", "接下来", "现在", "让我"}

// announces reports whether a sentence announces a step.
func announces(t string) bool {
	low := strings.ReplaceAll(strings.ToLower(t), "’", "'")
	return beginsAny(low, announcements) || strings.Contains(low, ", then i'll ") || atIt(low)
}

// states lists verbs of states, which are not activities.
var states = []string{"seeing", "thinking", "wondering", "noticing", "assuming", "hoping", "having", "missing", "guessing", "being", "feeling", "considering", "leaning", "relying", "suspecting"}

// atIt reports whether a sentence states what its speaker is doing: "I'm
// marking the task as done".
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

// announced returns the sentence in which the assistant last announced a step.
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

// begun reports whether a step has calls and all of them were answered. Then
// what it announced was done, or tried.
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

// answeredSince reports whether the user wrote something after a step.
func (h *History) answeredSince(step int) bool {
	for i := len(h.Steps) - 1; i >= 0 && h.Steps[i].ID > step; i-- {
		if s := &h.Steps[i]; s.user() && s.Text != "" {
			return true
		}
	}
	return false
}

// announcedValue ranks the next step above what is only known.
const announcedValue = 5

// unanswered returns the question with which the history ends, if it does.
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
