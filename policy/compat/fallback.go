package compat

import (
	"context"

	"github.com/agentcompact/compact/policy"
)

// Fallback keeps the last messages and removes the others, without a notice. It is used
// if no summary fits. Its first cut keeps the last Messages messages, and each further
// cut keeps one message fewer, down to one. The final cut keeps only the newest round,
// and also removes earlier summaries and notices. Rounds stay whole. Pinned messages,
// the anchor and the open round stay.
type Fallback struct {
	Messages int // default DefaultTail
}

// fallbackPruning is the name that reports give to a cut without a summary.
const fallbackPruning = "pruning-only"

// Name returns "fallback".
func (Fallback) Name() string { return "fallback" }

// Propose offers the cuts as alternatives.
func (f Fallback) Propose(_ context.Context, v *policy.View) (policy.Proposal, error) {
	out := policy.Proposal{Alternatives: true}
	last := 0
	for _, removed := range f.cuts(v) {
		if len(removed) == last {
			continue
		}
		last = len(removed)
		out.Groups = append(out.Groups, []policy.Edit{{
			Decision: policy.Dropped,
			Reason:   "older than the last messages; no summary fits the budget",
			Cut:      &policy.Cut{Removed: removed}, // nothing else moves
		}})
	}
	if last > 0 {
		out.Summary = &policy.SummaryInfo{Strategy: ContractStrategy, Fallback: fallbackPruning, Input: last, Errors: []string{
			"policy: a summary does not fit beside the messages that must stay"}}
	}
	return out, nil
}

// Takes returns the messages that the final cut removes.
func (f Fallback) Takes(v *policy.View) []int { return remainder(v, newest(v)) }

// cuts returns the messages removed by each cut, from the smallest cut to the
// largest.
func (f Fallback) cuts(v *policy.View) (cuts [][]int) {
	for n := tailOr(f.Messages); n > 0; n-- {
		var removed []int
		for _, i := range remainder(v, tail(v, n)) {
			if !v.Owned(i) {
				removed = append(removed, i)
			}
		}
		cuts = append(cuts, removed)
	}
	return append(cuts, remainder(v, newest(v)))
}
