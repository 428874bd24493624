package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

var decideWords = []string{"decided", "i'll use", "i will use", "let's use", "going with", "go with", "instead of", "because", "root cause", "turns out",
	"the issue is", "the problem is", "the fix is", "so that", "this means", "the reason", "chose", "confirmed", "found that", "should use",
	"rather than", "approach", "the bug", "key finding", "key insight", "conclusion", "determined", "therefore", "因为", "决定", "所以"}

var strongDecide = []string{"decided", "root cause", "the issue is", "the problem is", "the fix", "because", "instead of", "turns out", "conclusion", "key finding"}

// decides says how much a sentence of the assistant decides or concludes.
func decides(t string) float64 {
	low := strings.ToLower(t)
	switch {
	case len(t) < 40 || strings.HasSuffix(t, "?") || strings.HasSuffix(t, ":") || debris(t) || passing(low):
		return 0
	case hasAny(low, strongDecide):
		return quality(t)
	case hasAny(low, decideWords):
		return 0.6 * quality(t)
	}
	return 0
}

// musings begin thoughts that pass: what is looked at, weighed or asked on the
// way. A decision may begin with "I'll", not with what is to be found out.
var musings = []string{"i should verify", "i should check", "i should look", "i need to", "i should", "let me", "now let me", "wait", "hmm", "actually", "maybe", "perhaps", "but ", "and ", "it ", "this means", "if ", "so if", "what if", "looking",
	"i wonder", "i'm wondering", "i’m wondering", "i'm thinking", "i’m thinking", "i'm considering", "i’m considering", "i'm weighing", "i’m weighing", "it seems", "it looks", "i think", "i guess", "thought:"}

// looking are what an assistant says that it is about to do when it only looks.
var looking = []string{"check", "look", "read", "verif", "inspect", "search", "explor", "review", "investigat", "confirming", "pull", "gather", "see ", "find", "examin", "trac", "start", "use the", "present", "crawl", "organiz"}

// passing reports whether a sentence is a thought that passes, or says what is
// looked at next: no decision.
func passing(low string) bool {
	if beginsAny(low, musings) {
		return true
	}
	for _, b := range []string{"i'll ", "i’ll ", "i will ", "i'm ", "i’m ", "i am ", "now i'll ", "now i’ll ", "next, i'll ", "first, i'll ", "let's ", "now "} {
		if rest, ok := strings.CutPrefix(low, b); ok && beginsAny(rest, looking) {
			return true
		}
	}
	return false
}

// choosing are words of sentences that choose, or say what the cause is.
var choosing = []string{"decided", "i'll ", "i’ll ", "i will ", "let's ", "going with", "go with", "chose", "instead of", "rather than", "the fix", "root cause", "out of scope", "should use", "should be", "keep ", "kept ",
	"leave ", "left ", "drop", "remov", "not worth", "prefer", "conclusion", "the issue is", "the problem is", "key finding", "approach is", "this approach", "best approach", "simplest approach", "recommend", "決", "决定", "选择", "而不是", "结论"}

// chooses reports whether a sentence decides: one that only explains stands in
// the log.
func chooses(t string) bool {
	low := strings.ToLower(t)
	return hasAny(low, choosing) && !beginsAny(low, []string{"because", "this is because", "that's because", "that’s because", "so that ", "that might", "as expected"})
}

// recap reports whether a step is a summary that a harness put there: what it
// says was said and decided before.
func (s *Step) recap() bool { return strings.HasPrefix(s.Text, "This session is being continued") }

// withoutQuotes is a text without the lines that quote somebody.
func withoutQuotes(text string) string {
	if !strings.Contains(text, ">") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// reporting are words of sentences that say what somebody else said.
var reporting = []string{"the user asked", "user asked", "the user wants", "the user said", "the user is ", "the user needs ", "the user mention", "the user points", "reviewer", " comment says", " comments say", " suggests", " suggested", " says:", " said:", " wrote:", " asks whether", " asked whether", "according to "}

// reports reports whether a sentence says what somebody else said: it quotes, or
// names who says it.
func reports(t string) bool {
	rest := strings.TrimLeft(t, "-*• ")
	if beginsAny(rest, []string{`"`, "“", "”", "«", "‘"}) || strings.HasSuffix(rest, `?"`) || strings.HasSuffix(rest, "?”") {
		return true
	}
	return hasAny(strings.ToLower(t), reporting)
}

// takenBackValue is what a decision is worth that was taken back: told in the log
// alone, without what was said against it, it would stand.
const takenBackValue = failedValue + 0.5

// Decisions returns the assistant's sentences that decide or conclude, with
// their reasons. A guess is no decision, and neither is an offer that the user
// has not accepted; both are in the log as statements.
func (h *History) Decisions() []Fact {
	var out []Fact
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant || s.recap() || s.Speaker != "" && len(s.Text) > longestSpoken {
			continue
		}
		text, weight := withoutQuotes(s.Text), 1.0
		if s.Text == "" {
			text, weight = s.Reasoning, 0.7
		}
		n := 0
		sentences(text, func(t string, heading bool) {
			value := decides(t)
			if heading || value == 0 || n >= 4 || !chooses(t) || guesses(t) || reports(t) || claims(t) && namesCommand(t) || offers(t) && !h.took(i, t) {
				return
			}
			n++
			f := Fact{s.ID, clip(squash(unlabeled(t)), maxSentence), value * weight * h.recency(s.ID)}
			if h.against(f) != "" {
				f.Value = max(f.Value, takenBackValue)
			}
			out = append(out, f)
		})
	}
	return out
}
