package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// guessing lists phrases that mark a sentence as a supposition. In the reason
// for a decision they do not count.
var guessing = []string{"might ", "maybe", "perhaps", "probably", "possibly", "presumably", "likely ", "could be", "may be ", "i think", "i guess", "i suspect", "i assume", "i believe", "based on my analysis", "my guess", "not sure", "i wonder", "seems", "appears to", "what if", "i could", "可能", "也许"}

// guesses reports whether a sentence only supposes.
func guesses(t string) bool {
	what, _ := splitReason(strings.ToLower(t))
	return prose.HasAny(what, guessing)
}

// offering lists phrases of sentences that offer the user a choice, in addition to the
// phrases of proposes.
var offering = []string{"i'd recommend", "i’d recommend", "i would recommend", "i'd suggest", "i’d suggest", "i would suggest", "my recommendation", "my suggestion", "i propose", "if you'd like", "if you’d like", "if you prefer", "we could", "you could", "one option", "another option", "alternatively", "建议"}

// offers reports whether a sentence leaves a decision to the user.
func offers(t string) bool { return proposes(t) || prose.HasAny(strings.ToLower(t), offering) }

// took reports whether the offer in sentence t of step i was accepted: the step has calls,
// the assistant continues, or the user agrees. An answer that names an option accepts only
// the sentences about this option.
func (h *History) took(i int, t string) bool {
	s := &h.Steps[i]
	if len(s.Calls) > 0 || !h.ends(i) {
		return true
	}
	if i+1 == len(h.Steps) {
		return false
	}
	answer := h.Steps[i+1].Text
	if rules.Objects(answer) || prose.HasAny(strings.ToLower(answer), declining) {
		return false
	}
	if taken, _ := chosen(s.Text, answer); len(taken) > 0 {
		return slices.ContainsFunc(taken, func(o option) bool { return o.isIn(t) })
	}
	return assents(answer)
}

// declining lists phrases of answers that decline an offer.
var declining = []string{"n't ", "n’t ", " not ", "not ", "instead of ", "rather than ", "except "}

// correcting lists beginnings of sentences that retract a statement. correctingWords
// lists phrases that can appear anywhere in such a sentence.
var (
	correcting = []string{"actually, ", "correction", "on second thought", "i was wrong", "i was mistaken", "that was wrong", "my earlier", "my previous", "my mistake", "scratch that", "that's not", "that isn't", "turns out", "it turns out", "i misread", "i misunderstood",
		"contrary to", "so it's not", "so that's not", "so it isn't", "no, "}
	correctingWords = []string{" was wrong", " were wrong", "not the cause", "not the root cause", "isn't the cause", "isn't the root cause", "wasn't the cause", "wasn't the root cause", "wasn't needed", "was not needed", "not needed after all", "no longer needed", "reverting", "reverted", "superseded"}
)

// corrects reports whether a sentence retracts an earlier statement.
func corrects(t string) bool {
	low := strings.ReplaceAll(strings.ToLower(t), "’", "'")
	return !leads(t) && !debris(t) && !guesses(low) && (prose.BeginsAny(low, correcting) || prose.HasAny(low, correctingWords))
}

// concluding lists phrases of sentences that state a finding.
var concluding = []string{"confirmed", "root cause", "turns out", "i found", "found that", "found it", "found the", "the issue is", "the issue was", "the problem is", "the problem was", "the cause is", "the cause was", "the bug is", "the bug was", "conclusion", "key finding", "determined", "verified", "结论", "原因是"}

// concludes reports whether a sentence states a finding.
func concludes(t string) bool {
	return !leads(t) && !debris(t) && prose.HasAny(strings.ToLower(t), concluding)
}
