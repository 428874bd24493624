// Package invariant is an independent judge of compactions: given the input and the
// output, it returns the broken promises.
//
// It shares no code with the engine that it judges. It reads the parts and
// the raw bytes of messages and has its own pairing of calls and results, its
// own definitions of rounds, turns, the anchor and the open round, and its
// own parsers of placeholders, so that a mistake in the engine is not
// repeated here.
package invariant

import "github.com/agentcompact/compact/message"

// A Case is one call of the hook to be judged. In, Out, Decisions, Cost and Budget are needed; a
// rule that needs other fields is not checked if they are zero.
type Case struct {
	In, Out []message.Message

	// Pinned reports whether a message must stay unchanged byte for byte; nil: the
	// protected messages must. Notices of a compaction are never pinned unless they
	// are protected.
	Pinned func(message.Message) bool

	// Decisions has the decision on each message of In: kept, truncated, masked,
	// summarized or dropped.
	Decisions []string

	// Cost returns the tokens of a message. Text returns the tokens of a text. If Text is
	// nil, the numbers of tokens in markers are not checked.
	Cost func(message.Message) int
	Text func(string) int

	Fixed  int // tokens of the request besides the messages
	Budget int // maximum cost of a view
	Target int // a compaction continues down to this size; 0 = not checked

	MaxSummaryTokens int  // limit of one summary; 0 = not checked
	Summarizes       bool // the stages include summarize, so no old message may stay above the target

	KeepTurns  int // the keep counts as configured; 0 = not checked
	KeepPairs  int
	MaskWindow int // turns whose results are not masked
	MaskFirst  int // results from the beginning that are not masked

	Triggered bool // this call compacted because it was due
	Manual    bool // this call compacted on request
	Tidies    bool // results are reduced on arrival, also below the trigger
	Deeper    bool // the session grows at a call by more than the distance between target and trigger, so the keep counts may be reduced
	Fallback  bool // a stage failed or was discarded, so more messages may stay than usual
	Earlier   bool // Out also holds the edits of earlier compactions of this history

	Reported *Reported // the numbers in the result; nil = not checked

	// Origin returns the text of part p of In[i] before any earlier compaction, if In is
	// a view. Nil: In is the original.
	Origin func(i, p int) string

	// Dispatch reports whether the dispatch blocks in a tool's results survive masking;
	// nil: the blocks of every tool survive.
	Dispatch func(tool string) bool

	// Placeholder recognizes placeholders of a custom template.
	Placeholder func(text string) bool
}

// Reported holds the token counts in a result.
type Reported struct {
	In, Out  int      // tokens of the history and of the view, Fixed included
	Messages [][2]int // per message of In: tokens before and after (0 = removed)
}

// A Violation is a broken promise.
type Violation struct {
	Rule   string // one of the Rule constants
	Detail string
}

// String returns rule and detail.
func (v Violation) String() string { return v.Rule + ": " + v.Detail }

// The rules, with the number of their promise if it has one.
const (
	RulePinned       = "1 pinned byte for byte"
	RulePinnedRound  = "1 a pinned part pins its round"
	RuleOrphan       = "2 no orphan"
	RuleRound        = "2 rounds whole"
	RuleAccount      = "3 each message accounted for once"
	RuleDecision     = "3 decisions agree with the views"
	RuleBudget       = "4 within the budget"
	RuleInsufficient = "4 insufficient budget only where the floor says so"
	RuleGrowth       = "5 nothing grows"
	RuleMasked       = "6 what is masked stays as it is"
	RuleText         = "6 placeholders state the original"
	RuleSame         = "7 same history, same view"
	RuleMonotone     = "8 sticky and monotone"
	RulePrefix       = "8 the prefix changes only at a compaction"
	RuleHysteresis   = "9 no compaction before it is due"
	RuleDue          = "9 a due compaction happens"
	RuleSummary      = "13 one summary"
	RuleAnchor       = "13 the anchor stays, behind the summary"
	RulePairing      = "14 calls are answered directly"
	RuleOrder        = "order"
	RuleOpen         = "open round only truncated"
	RuleKeep         = "keep counts"
	RuleWindow       = "visible results are not masked"
	RuleDispatch     = "dispatch blocks survive masking"
	RuleTarget       = "goes on until the target"
	RuleReported     = "reported tokens are counted tokens"
	RuleBytes        = "siblings of an edit keep their bytes"
	RuleHistory      = "the history is not modified"
)

// Check judges one call. It returns nil if no promise was broken. It panics if Cost is
// nil.
func Check(c Case) []Violation {
	j := newJudge(&c)
	if !j.decisionsAreValid() {
		j.unaligned()
		return j.found
	}
	j.align()
	for _, rule := range []func(){
		j.checkPinned, j.checkOrphans, j.checkRounds, j.checkPairing,
		j.checkAccounts, j.checkDecisions, j.checkOrder,
		j.checkAnchor, j.checkOpen, j.checkKeep, j.checkWindow,
		j.checkBudget, j.checkGrowth, j.checkTarget, j.checkReported,
		j.checkTexts, j.checkSummary, j.checkIdle, j.checkCopies,
	} {
		rule()
	}
	if !j.strict && !j.Earlier && len(j.found) == 0 {
		j.fail(RuleAccount, "the decisions do not lead to the view")
	}
	return j.found
}
