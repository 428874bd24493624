package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// deciding lists phrases of sentences that decide, conclude or give a reason.
// strongDecide lists the unambiguous ones.
var deciding = []string{"decided", "decision: ", "my decision", "i'll use", "i will use", "let's use", "going with", "go with", "instead of", "because", "root cause", "turns out",
	"the issue is", "the problem is", "the fix is", "so that", "this means", "the reason", "chose", "confirmed", "found that", "should use",
	"rather than", "approach", "the bug", "key finding", "key insight", "conclusion", "determined", "therefore", "out of scope", "因为", "决定", "所以"}

var strongDecide = []string{"decided", "root cause", "the issue is", "the problem is", "the fix", "because", "instead of", "turns out", "conclusion", "key finding"}

// decides returns how clearly a sentence of the assistant decides or concludes, from 0
// (not at all) to 1.
func decides(t string) float64 {
	low := strings.ToLower(t)
	switch {
	case len(t) < 40 || strings.HasSuffix(t, "?") || strings.HasSuffix(t, ":") || debris(t) || transient(low):
		return 0
	case prose.HasAny(low, strongDecide):
		return quality(t)
	case prose.HasAny(low, deciding):
		return 0.6 * quality(t)
	}
	return 0
}

// musings lists beginnings of sentences that consider or question something before a
// decision.
var musings = []string{"i should verify", "i should check", "i should look", "i need to", "i should", "let me", "now let me", "wait", "hmm", "actually", "maybe", "perhaps", "but ", "and ", "it ", "this means", "if ", "so if", "what if", "looking",
	"i wonder", "i'm wondering", "i’m wondering", "i'm thinking", "i’m thinking", "i'm considering", "i’m considering", "i'm weighing", "i’m weighing", "it seems", "it looks", "i think", "i guess", "thought:"}

// looking lists verbs of steps that only look at something.
var looking = []string{"check", "look", "read", "verif", "inspect", "search", "explor", "review", "investigat", "confirming", "pull", "gather", "see ", "find", "examin", "trac", "start", "use the", "present", "crawl", "organiz"}

// transient reports whether a sentence considers something, or announces a step
// that only looks. Such a sentence is obsolete once the step is done.
func transient(low string) bool {
	low = strings.ReplaceAll(low, "’", "'")
	if prose.BeginsAny(low, musings) || prose.HasAny(low, findingOut) {
		return true
	}
	for _, b := range []string{"i'm ", "i am ", "now "} {
		if rest, ok := strings.CutPrefix(low, b); ok && prose.BeginsAny(rest, looking) {
			return true
		}
	}
	for _, b := range []string{"i'll ", "i will ", "i'm going to ", "let's "} {
		_, rest, ok := strings.Cut(low, b)
		if first, _, more := strings.Cut(rest, " "); ok && more && (first == "just" || first == "first" || first == "now" || first == "also") {
			rest = rest[len(first)+1:]
		}
		if ok && prose.BeginsAny(rest, looking) {
			return true
		}
	}
	return false
}

// findingOut lists phrases of sentences about the way to find something out. Such a
// sentence does not state a choice about the work.
var findingOut = []string{"rather than rely", "instead of relying", "rather than guess", "instead of guessing", "rather than assum", "instead of assuming", "rather than speculat", "instead of speculating", "rather than trust", "pin this to"}

// resolving lists phrases of sentences that state a future action, or that something is
// left undone. With a reason or an alternative, such a sentence is a decision.
var resolving = []string{"decided", "decision: ", "my decision", "i'll ", "i’ll ", "i will ", "we'll ", "we’ll ", "we will ", "i'm going to ", "i’m going to ", "let's ", "let’s ", "going with", "go with", "chose", "the fix is to ", "the fix should", "the fix would be to ", "the fix: ", "fix is simple", "fix is straightforward", "fix is clear",
	"out of scope", "should use", "i should", "i can just", "not worth", "i prefer", "prefer to", "approach is to ", "solution is to ", "approach is best", "approach is fine", "recommend", "leaving ", "keeping ", "sticking with", "intentional", "deliberate", "决", "决定", "选择", "而不是"}

// imperatives lists verbs at the beginning of sentences that state the assistant's
// approach.
var imperatives = []string{"use ", "keep ", "leave ", "drop ", "remove ", "skip ", "prefer ", "avoid ", "replace ", "default ", "store ", "make ", "add ", "move ", "rename ",
	"kept ", "left ", "dropped ", "removed ", "skipped ", "replaced ", "switched ", "moved ", "renamed ", "changed "}

// resolves reports whether a sentence states a future action or a choice. A sentence that
// describes or explains does not count.
func resolves(t string) bool {
	low := strings.ToLower(t)
	rest := strings.TrimLeft(low, "-*• ")
	return (prose.HasAny(low, resolving) || prose.BeginsAny(rest, imperatives) || prefers(rest)) && !prose.BeginsAny(rest, explaining) && !prose.HasAny(low, expecting) && !namesNextStep(rest)
}

// expecting lists phrases of sentences that state an expected behavior.
var expecting = []string{"it should use", "it should now use", "this should use", "that should use", "which should use", "they should use"}

// reconsidering lists beginnings of sentences with which the assistant drops an idea from
// the same message.
var reconsidering = []string{"actually", "wait", "but wait", "no, wait", "no wait", "hmm", "hold on", "on second thought", "scratch that", "oh wait", "but actually", "however, actually", "let me reconsider", "let me rethink"}

// reconsiders reports whether a sentence begins with a phrase of reconsidering.
func reconsiders(t string) bool {
	low := strings.ToLower(t)
	for _, w := range reconsidering {
		if prose.BeginsWord(low, w) {
			return true
		}
	}
	return false
}

// prefers reports whether a sentence states that the assistant chooses one way over
// another.
func prefers(low string) bool {
	if prose.BeginsAny(low, []string{"instead of ", "rather than "}) {
		return prose.HasAny(low, []string{" i ", " let me ", " we "})
	}
	return prose.BeginsAny(low, []string{"i'm ", "i’m ", "i am "}) && prose.HasAny(low, []string{"instead of ", "rather than "}) && !finds(low)
}

// explaining lists beginnings of sentences that give a reason for another sentence, or
// name one of several ways.
var explaining = []string{"now that ", "another ", "one way ", "one approach ", "because", "this is because", "that's because", "that’s because", "so that ", "that might", "as expected", "this will help", "that will help"}

// announced lists beginnings of sentences that name the next step. tooling lists phrases
// of sentences that only name the tool for an edit.
var (
	announced = []string{"now, ", "now for ", "now i'll ", "now i’ll ", "now i will ", "now i need", "now i'm ", "now i’m ", "now let's ", "now let’s ", "next i'll ", "next, i'll ", "next i will ", "next, i will ", "once confirmed", "then i'll ", "then i will ", "then, i", "first i", "first, i"}
	tooling   = []string{"use `sed`", "use sed", "use `ed`", "use `awk`", "use awk", "use `perl`", "use perl", "use python to", "use a python script", "use a script", "use the edit", "use `cat`", "use `grep`", "use grep", "a heredoc"}
)

// namesNextStep reports whether a sentence names the next step, or the tool for an edit.
// Such a sentence is obsolete once the step is done.
func namesNextStep(low string) bool {
	return prose.BeginsAny(low, announced) || prose.HasAny(low, tooling)
}

// causes lists phrases of sentences that diagnose a problem or state a finding.
var causes = []string{"root cause", "the issue is", "the issue was", "the problem is", "the problem was", "the cause is", "the cause was", "the bug is", "the bug was", "the real issue", "key finding", "key insight", "conclusion", "turns out", "结论", "原因是"}

// diagnoses reports whether a sentence states a problem or its cause.
func diagnoses(t string) bool {
	low := strings.ToLower(t)
	return prose.HasAny(low, causes) && !prose.BeginsAny(low, explaining)
}

// checking lists words for kinds of checks.
var checking = []string{"test", "build", "lint", "suite", "compil", "verified", " ci "}

// boasts reports whether a sentence claims the outcome of a check. The runs
// themselves show the outcome.
func boasts(t string) bool {
	low := strings.ToLower(t)
	return claims(low) && (namesCommand(t) || prose.HasAny(low, checking)) || prose.HasAny(low, []string{" succeeded", " is working", " works perfectly"})
}

// withoutQuotes returns a text without its quoted lines.
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

// reporting lists phrases of sentences that report somebody else's words.
var reporting = []string{"the user asked", "user asked", "the user wants", "the user said", "the user is ", "the user needs ", "the user mention", "the user points", "reviewer", " comment says", " comments say", " suggests", " suggested", " says:", " says the ", " says that ", " say that ", " said:", " wants ", " wants us ", " wrote:", " asks whether", " asked whether", "according to "}

// reports reports whether a sentence reports somebody else's words: it quotes
// them, or names the speaker.
func reports(t string) bool {
	rest := strings.TrimLeft(t, "-*• ")
	if prose.BeginsAny(rest, []string{`"`, "“", "”", "«", "‘"}) || strings.HasSuffix(rest, `?"`) || strings.HasSuffix(rest, "?”") {
		return true
	}
	return prose.HasAny(strings.ToLower(t), reporting)
}

// takenBackValue is the minimum value of a decision that was taken back. If only the log
// stated the decision, without the objection, the decision would seem to hold.
const takenBackValue = failedValue + 0.5

// decisions returns the assistant's sentences that state a future action or a choice,
// with their reasons. A guess, an offer that the user has not accepted, and a sentence
// that describes something are not decisions. The log has them as statements.
func (h *History) decisions() []fact { return h.judgments(resolves) }

// conclusions returns the assistant's sentences that state a problem or its cause, except
// decisions.
func (h *History) conclusions() []fact {
	return h.judgments(func(t string) bool { return diagnoses(t) && !resolves(t) })
}

// mostJudgments is the maximum number of decisions, and of conclusions, from
// one message.
const mostJudgments = 4

// judgments returns the assistant's sentences of one kind that decide or
// conclude.
func (h *History) judgments(kind func(t string) bool) []fact {
	var out []fact
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant || s.recap() || s.Speaker != "" && len(s.Text) > longestSpoken {
			continue
		}
		text, weight := withoutQuotes(s.Text), 1.0
		if s.Text == "" && s.acts() {
			text, weight = s.Reasoning, 0.7
		}
		n, open := 0, h.leavesChoice(i)
		prose.EachSentence(text, func(one prose.Sentence) {
			t := one.Text
			if reconsiders(t) {
				out, n = out[:len(out)-n], 0
			}
			value := decides(t)
			if one.Heading || value == 0 || n >= mostJudgments || !kind(t) || guesses(t) || reports(t) || boasts(t) || h.failedFix(i, t) || h.isOffer(i, one, open) && !h.took(i, t) {
				return
			}
			n++
			f := fact{s.ID, prose.Clip(prose.Squash(unlabeled(t)), prose.MaxSentence), value * weight * h.recency(s.ID)}
			if h.against(f) != "" {
				f.Value = max(f.Value, takenBackValue)
			}
			out = append(out, f)
		})
	}
	return out
}

// isOffer reports whether a sentence of step i leaves the decision to the user. Such a
// sentence offers something, is an option in a list, or names the option that the
// assistant would take when it ends its turn. open states that the step ends with a question.
func (h *History) isOffer(i int, one prose.Sentence, open bool) bool {
	return offers(one.Text) || open && one.Item || prefersOne(one.Text) && h.endsTurn(i)
}

// acts reports whether the calls of a step change or check something. The reasoning of a
// step that only looks is mostly repeated in a later step.
func (s *Step) acts() bool {
	for k := range s.Calls {
		if s.Calls[k].acts() > 0 {
			return true
		}
	}
	return false
}

// leavesChoice reports whether step i is an answer that ends with a question. Then the
// items of its lists are options for the user.
func (h *History) leavesChoice(i int) bool {
	s := &h.Steps[i]
	if len(s.Calls) > 0 || !h.ends(i) {
		return false
	}
	last := ""
	prose.Sentences(s.Text, func(t string, _ bool) { last = t })
	return strings.HasSuffix(last, "?") || strings.HasSuffix(last, "？") || prose.HasAny(strings.ToLower(last), proposing)
}

// prefersOne reports whether a sentence names the option that the assistant
// would take.
func prefersOne(t string) bool {
	return prose.HasAny(strings.ToLower(t), []string{"i prefer", "i'd prefer", "i’d prefer", "i would prefer", "i lean ", "i'd lean", "i’d lean", "my preference", "i'd go ", "i’d go ", "i would go "})
}

// concluded is the text before a conclusion. It names the assistant as the source, because
// a conclusion may be wrong.
const concluded = "the assistant concluded: "

// mostConcluded is the maximum number of lines with conclusions. An agent that searches for
// a cause states a new cause every few steps, and only the last ones hold.
const mostConcluded = 3

// conclusionLines returns lines with the last problems that the assistant diagnosed, each
// about another subject, and with later objections to them.
func (h *History) conclusionLines(section int) []Line {
	var out []Line
	var said []string
	all := h.conclusions()
	for k := len(all) - 1; k >= 0 && len(out) < mostConcluded; k-- {
		f := all[k]
		again := func(later string) bool { return sameSubject(later, f.Text) }
		if h.concludedAgain(f) || saysNoCause(f.Text) || slices.ContainsFunc(said, again) {
			continue
		}
		said = append(said, f.Text)
		out = append(out, Line{Section: section, Text: concluded + f.Text + " " + stepID(f.Step) + h.against(f), Value: f.Value, Order: f.Step})
	}
	slices.Reverse(out)
	return out
}

// causeless lists phrases of sentences that name a problem without a cause.
var causeless = []string{"reproducible", "i understand", "issue is about ", "problem is about ", "issue is clear", "problem is clear", "issue is fixed", "problem is solved"}

func saysNoCause(t string) bool { return prose.HasAny(strings.ToLower(t), causeless) }

// sameSubject reports whether two sentences share at least half of the words of the shorter
// one, without everyday words.
func sameSubject(a, b string) bool {
	x, y := subjectWords(a), subjectWords(b)
	n := 0
	for w := range x {
		if y[w] {
			n++
		}
	}
	return n >= leastObjected && 2*n >= min(len(x), len(y))
}

func subjectWords(t string) map[string]bool {
	out := map[string]bool{}
	for _, w := range themeWords(t) {
		if !everyday[w] {
			out[w] = true
		}
	}
	return out
}

// concludedAgain reports whether the assistant later stated another finding about the
// same subject. Then only the last finding holds.
func (h *History) concludedAgain(f fact) bool {
	l := h.hindsight()
	for k, n := range l.concluded.shared(f.Text) {
		if n >= leastShared && l.concluded.all[k].step > f.Step {
			return true
		}
	}
	return false
}

// fixing lists phrases of sentences that name a way to fix something. backfired lists
// phrases that say that a way did not work.
var (
	fixing    = []string{"the fix is", "the fix should", "the fix would", "fix is to ", "solution is to ", "approach is to "}
	backfired = []string{"doesn't fix", "doesn't actually fix", "did not fix", "didn't fix", "still has the same", "same error", "same issue", "same problem", "didn't work", "did not work", "doesn't work", "still fails", "still failing", "didn't help", "did not help"}
)

// nextTexts is the number of messages after a fix that can state that the fix did not work.
const nextTexts = 2

// failedFix reports whether a sentence of step i names a fix, and the beginning of one
// of the assistant's next messages states that the fix did not work.
func (h *History) failedFix(i int, t string) bool {
	if !prose.HasAny(strings.ToLower(t), fixing) {
		return false
	}
	left := nextTexts
	for i++; i < len(h.Steps) && left > 0 && !h.Steps[i].user(); i++ {
		if s := &h.Steps[i]; s.Role == message.RoleAssistant && s.Text != "" {
			if prose.HasAny(strings.ToLower(strings.ReplaceAll(firstSentence(s.Text), "’", "'")), backfired) {
				return true
			}
			left--
		}
	}
	return false
}
