package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// A Fact is something a history says that a summary may say again.
type Fact struct {
	Step  int // number of the message
	Text  string
	Value float64
}

// user reports whether a step is a person speaking.
func (s *Step) user() bool { return s.Role == message.RoleUser }

// machine tells what harnesses write in the user's name: console output,
// reminders, markup.
func machine(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || strings.HasPrefix(text, "<command-") || strings.HasPrefix(text, "<local-command") ||
		strings.HasPrefix(text, "<system-reminder") || strings.HasPrefix(text, "<environment_context") || strings.HasPrefix(text, "Caveat:") ||
		strings.HasPrefix(text, "[Request interrupted") || strings.HasPrefix(text, "<user_instructions")
}

// Goals returns what the user asked for: the first request in full, of later
// ones the sentence that asks.
func (h *History) Goals() []Fact {
	var out []Fact
	first := true
	for i := range h.Steps {
		s := &h.Steps[i]
		if !s.user() || machine(s.Text) {
			continue
		}
		limit := 2
		if first {
			limit = 5
		}
		n := 0
		sentences(s.Text, func(t string, heading bool) {
			if n >= limit || heading || len(t) < 12 {
				return
			}
			n++
			value := 0.9 - 0.15*float64(n)
			if first && n == 1 {
				value = 1.2
			}
			if asks(t) {
				value += 0.2
			}
			out = append(out, Fact{s.ID, clip(squash(t), maxSentence), value * h.recency(s.ID)})
		})
		first = false
	}
	return out
}

// recency is 1 for the newest step and 0.6 for the oldest.
func (h *History) recency(id int) float64 {
	if len(h.Steps) < 2 {
		return 1
	}
	first, last := h.Steps[0].ID, h.Steps[len(h.Steps)-1].ID
	if last == first {
		return 1
	}
	return 0.6 + 0.4*float64(id-first)/float64(last-first)
}

var askWords = []string{"please", "can you", "could you", "i want", "i need", "we need", "should", "make ", "add ", "fix ", "implement", "let's",
	"create", "update", "remove", "write ", "find ", "why ", "how ", "what ", "check ", "review", "so that", "until ", "?", "请", "帮"}

func asks(s string) bool { return hasAny(strings.ToLower(s), askWords) }

func hasAny(low string, words []string) bool {
	for _, w := range words {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

var bindWords = []string{"must", "never", "only ", "do not", "don't", "dont ", "always", "without ", "make sure", "ensure", "avoid", "no more than",
	"at most", "at least", "required", "not allowed", "keep ", "instead of", "should not", "shouldn't", "needs to", "need to", "必须", "不要", "只能"}

// Constraints returns the user's sentences that bind, in the user's words.
func (h *History) Constraints() []Fact {
	var out []Fact
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Role == message.RoleAssistant || machine(s.Text) || s.Role == message.RoleTool {
			continue
		}
		n := 0
		sentences(s.Text, func(t string, heading bool) {
			if heading || len(t) < 12 || len(t) > 600 || n >= 12 {
				return
			}
			low := strings.ToLower(t)
			if !hasAny(low, bindWords) {
				return
			}
			n++
			value := 0.7
			if hasAny(low, []string{"must", "never", "do not", "don't", "only ", "必须", "不要"}) {
				value = 1
			}
			out = append(out, Fact{s.ID, clip(squash(t), maxSentence), value * h.recency(s.ID)})
		})
	}
	return out
}

var decideWords = []string{"decided", "i'll use", "i will use", "let's use", "going with", "go with", "instead of", "because", "root cause", "turns out",
	"the issue is", "the problem is", "the fix is", "so that", "this means", "the reason", "chose", "confirmed", "found that", "found the", "should use",
	"rather than", "approach", "the bug", "key finding", "key insight", "conclusion", "determined", "therefore", "因为", "决定", "所以"}

var strongDecide = []string{"decided", "root cause", "the issue is", "the problem is", "the fix", "because", "instead of", "turns out", "conclusion", "key finding"}

// Decisions returns the assistant's sentences that decide or conclude, with
// their reasons.
func (h *History) Decisions() []Fact {
	var out []Fact
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant {
			continue
		}
		text, weight := s.Text, 1.0
		if text == "" {
			text, weight = s.Reasoning, 0.7
		}
		n := 0
		sentences(text, func(t string, heading bool) {
			if heading || len(t) < 25 || n >= 4 {
				return
			}
			low := strings.ToLower(t)
			if !hasAny(low, decideWords) {
				return
			}
			n++
			value := 0.6
			if hasAny(low, strongDecide) {
				value = 0.9
			}
			out = append(out, Fact{s.ID, clip(squash(t), maxSentence), value * weight * h.recency(s.ID)})
		})
	}
	return out
}
