package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// nextWords appear in sentences about open work. openLabels precede open work.
// notNeeded appear in sentences that deny open work.
var (
	nextWords = []string{"next step", "next steps", "remaining", "remains", "still need", "still needs", "still fail", "still fails", "still failing", "blocked", "waiting for", "left to do",
		"follow-up", "follow-ups", "need to fix", "needs to be", "outstanding", "unresolved"}
	openLabels = []string{"todo:", "todos:", "to do:", "to-do:"}
	notNeeded  = []string{"don't need", "doesn't need", "do not need", "does not need", "no need", "not need", "needn't", "no longer", "no remaining", "nothing remain", "no outstanding", "no follow-up", "nothing left", "no todo", "follow-up question", "none remain"}
)

// leavesOpen reports whether a sentence mentions open work.
func leavesOpen(t string) bool {
	low := withoutAmounts(withoutReport(strings.ReplaceAll(strings.ToLower(t), "’", "'")))
	return (prose.HasAnyWord(low, nextWords) || prose.HasAnyWord(low, openLabels) || notYet(low) || prose.BeginsAny(low, []string{"next, ", "next i "})) && !prose.HasAny(low, notNeeded)
}

// withoutAmounts removes the words that say what is left of an amount from a lower-case
// sentence about money: "$173, to cover the remaining $871".
func withoutAmounts(low string) string {
	if prose.HasAny(low, []string{"$", "€", "£", " euros", " dollars", "balance"}) {
		return strings.NewReplacer("remaining", "", "remains", "", "outstanding", "").Replace(low)
	}
	return low
}

// conditions begin conditional clauses. A "not yet" in such a clause describes a case,
// and not the state of the work.
var conditions = []string{"if", "when", "whenever", "unless", "whether", "while", "until", "once"}

// notYet reports whether a sentence says that something has not happened so far.
func notYet(low string) bool {
	if !prose.HasAnyWord(low, []string{"not yet"}) {
		return false
	}
	clause, _, _ := strings.Cut(low, "not yet")
	clause = clause[strings.LastIndexAny(clause, ",;:")+1:]
	return !slices.ContainsFunc(strings.Fields(clause), func(w string) bool { return slices.Contains(conditions, w) })
}

var (
	// reporters begin sentences that report finished work, followed by a word of made.
	reporters = []string{"i've ", "i have ", "we've ", "we have ", "it's now ", ""}
	made      = []string{"successfully ", "created ", "implemented ", "added ", "fixed ", "built ", "completed ", "updated ", "finished ", "replaced ", "removed ", "rewritten ", "written ", "made ", "refactored ", "resolved ", "addressed ", "moved ", "renamed ", "migrated ", "converted ", "wired ", "merged ", "pushed ", "committed "}
	// turns begin a later part of such a sentence, which may report open work.
	turns = []string{" but ", ";", "however", " except ", " although ", " though ", " which ", " so ", " still ", " — ", " - ", ". "}
)

// withoutReport removes the part of a lower-case sentence that reports finished work:
// "I've fixed the remaining tests, but ". In that part, a word such as "remaining" does
// not mean open work.
func withoutReport(low string) string {
	rest := strings.TrimLeft(low, "✅✓✔ ")
	for _, head := range reporters {
		said, ok := strings.CutPrefix(rest, head)
		for _, filler := range []string{"now ", "also ", "just "} {
			said = strings.TrimPrefix(said, filler)
		}
		if ok && prose.BeginsAny(said, made) {
			return afterAny(rest, turns)
		}
	}
	return low
}

// afterAny returns the part of a text that begins with the first of the marks, "" if the
// text has none.
func afterAny(text string, marks []string) string {
	at := len(text)
	for _, m := range marks {
		if i := strings.Index(text, m); i >= 0 {
			at = min(at, i)
		}
	}
	return text[at:]
}

// A listHead is the heading or the sentence that leads to the items of a list.
type listHead struct{ heading, lead string }

// hear records a sentence, and reports whether it is a heading or leads to a list.
func (l *listHead) hear(one prose.Sentence) bool {
	switch {
	case one.Heading:
		l.heading, l.lead = one.Text, ""
	case (strings.HasSuffix(one.Text, ":") || strings.HasSuffix(one.Text, "：")) && !one.Item:
		l.lead = one.Text
	case !one.Item:
		l.lead = ""
		return false
	default:
		return false
	}
	return true
}

var (
	finishedHeads = append([]string{"accomplished", "implemented", "fixed", "added", "complete", "updated", "resolved", "features", "changes", "summary"}, reportHeads...)
	openHeads     = append([]string{"remains", "left", "not", "open", "pending", "blocked", "follow-up", "follow-ups"}, planHeads...)
)

// observedHeads are words of sentences that lead to a list of observations. A sentence that
// also has a word of ruledHeads leads to rules: "I found that we must keep:".
var (
	observedHeads = []string{"found", "shows", "showed", "displays", "says", "saw", "see", "output", "reads"}
	ruledHeads    = []string{"want", "need", "must", "should", "shall", "rule", "keep", "avoid", "please", "constraint", "require"}
)

// observed reports whether the list contains observations. Such an item sets no rule: "I
// found: no signal".
func (l *listHead) observed() bool {
	low := strings.ToLower(l.lead)
	return low != "" && prose.HasAnyWord(low, observedHeads) && !prose.HasAny(low, ruledHeads)
}

// done reports whether the list is about finished work.
func (l *listHead) done() bool {
	for _, head := range []string{l.lead, l.heading} {
		if low := strings.ToLower(head); head != "" {
			return prose.HasAnyWord(low, finishedHeads) && !prose.HasAnyWord(low, openHeads)
		}
	}
	return false
}

// speaksAgain reports whether step i is by another agent than the assistant, and this agent
// later mentions open work again. Its later report replaces this one.
func (h *History) speaksAgain(i int) bool {
	who := h.Steps[i].Speaker
	return who != "" && slices.ContainsFunc(h.Steps[i+1:], func(s Step) bool {
		open := false
		if s.Speaker == who {
			prose.Sentences(s.Text, func(t string, _ bool) { open = open || leavesOpen(t) })
		}
		return open
	})
}

// next returns the work that the assistant called open, in the last third of the history
// and since its last answer to the user. Earlier announcements are mostly done. The
// announcements in a message with calls are also mostly done, if the session continued
// after the calls.
func (h *History) next() []fact {
	var out []fact
	for i := max(len(h.Steps)*2/3, h.lastAnswer()); i < len(h.Steps); i++ {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant || s.recap() || browserReport(s.Text) || s.begun() && h.wentOn(s.ID) || h.speaksAgain(i) {
			continue
		}
		n := 0
		var head listHead
		prose.EachSentence(s.Text, func(one prose.Sentence) {
			t := one.Text
			if head.hear(one) || one.Item && head.done() {
				return
			}
			if n < 2 && len(t) > 25 && leavesOpen(t) && !strings.HasSuffix(t, ":") && !reports(t) {
				n++
				out = append(out, fact{s.ID, prose.Clip(prose.Squash(t), prose.MaxSentence), 0.4 * quality(t) * h.recency(s.ID)})
			}
		})
	}
	return out
}
