package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// shortAnswer is the maximum length of a short answer, in bytes. A short answer makes no
// sense without its question.
const (
	shortAnswer   = 60
	maxProposal   = 480 // characters of the quoted question or proposal
	proposalValue = failedValue + 0.5
)

// proposalLines returns lines that quote short answers of the user together with their
// questions. selectionLines covers answers that name an option.
func (h *History) proposalLines(section int) []Line {
	var out []Line
	told := map[int]bool{}
	for _, c := range h.selections() {
		told[c.step] = true
	}
	for i := 1; i < len(h.Steps); i++ {
		s := &h.Steps[i]
		if !s.user() || told[s.ID] || s.Text == "" || len(s.Text) > shortAnswer || asksBack(s.Text) || strings.HasPrefix(s.Text, "/") {
			continue
		}
		before := &h.Steps[i-1]
		if before.Role != message.RoleAssistant || before.Text == "" || before.recap() || len(before.Calls) > 0 {
			continue
		}
		if taken, _ := chosen(before.Text, s.Text); len(taken) > 0 {
			continue // a choice that a later one replaced
		}
		if asked := proposalIn(before.Text, s.Text); asked != "" {
			out = append(out, Line{Section: section, Text: "the user's “" + prose.Squash(s.Text) + "” " + stepID(s.ID) + " answered the assistant's “" + asked + "” " + stepID(before.ID), Value: proposalValue * h.recency(s.ID), Order: s.ID})
		}
	}
	return out
}

// asksBack reports whether a message is itself a question, with or without a question
// mark, and therefore not an answer.
func asksBack(text string) bool {
	low := strings.ToLower(strings.TrimSpace(text))
	if strings.HasSuffix(low, "?") || strings.HasSuffix(low, "？") {
		return true
	}
	head, rest, _ := strings.Cut(low, " ")
	return slices.Contains(askingHeads, head) && !strings.HasPrefix(rest, "you") // "what you propose" is an answer
}

// askingHeads lists words that begin a question.
var askingHeads = []string{"how", "why", "what", "what's", "where", "when", "who"}

// proposalIn returns the question or proposal at the end of a message: its last questions
// and offers, or its last announced step if the answer is a yes or a no. The sentence
// before a short question is part of the result. proposalIn returns "" if nobody could
// answer the end of the message.
func proposalIn(text, answer string) string {
	var asked []string
	last, lead, since := "", "", 0
	prose.EachSentence(text, func(one prose.Sentence) {
		t := one.Text
		if one.Heading || debris(t) {
			return
		}
		if strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") || proposes(t) {
			if len(asked) == 0 {
				lead = last
			}
			asked, since = append(asked, t), 0
		} else if !one.Item { // items can belong to the question
			since++
		}
		last = t
	})
	switch {
	case len(asked) > 0 && since <= mostAfter:
	case assents(answer) && announces(last):
		asked = []string{last}
	default:
		return ""
	}
	if n := len(asked); n > 3 {
		asked = asked[n-3:]
	}
	question := strings.Join(asked, " ")
	if len(strings.Fields(question)) <= mostBare && lead != "" {
		question = lead + " " + question
	}
	return prose.Clip(prose.Squash(question), maxProposal)
}

// mostBare is the maximum number of words of a question that says little without the sentence
// before it: "Do you accept?".
const mostBare = 5

// mostAfter is the maximum number of sentences between a question and its answer.
const mostAfter = 2

// assents reports whether an answer is only a yes or a no.
func assents(answer string) bool {
	return len(answer) <= 20 && prose.BeginsAny(strings.ToLower(answer), []string{"yes", "yep", "yeah", "ok", "no", "sure", "go", "do it", "please", "sounds good", "ja", "oui", "好", "是", "可以"})
}

// proposing lists phrases of offers.
var proposing = []string{"shall i", "should i", "want me to", "would you like", "do you want", "let me know", "if you want", "i can ", "i recommend", "i suggest", "ready to "}

func proposes(t string) bool {
	return prose.HasAny(strings.ReplaceAll(strings.ToLower(t), "i can see", ""), proposing)
}
