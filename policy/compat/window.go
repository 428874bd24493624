package compat

import (
	"context"

	"github.com/agentcompact/compact/policy"
)

// Window limits the number of messages in the view. It removes the oldest rounds
// above the limit, but never a pinned round, the anchor or the newest round. Pinned
// messages and earlier summaries and notices do not count.
type Window struct {
	// Messages is the limit. 0 = the limit of [MessageLimit] for an unknown
	// window; a negative number = as few messages as possible.
	Messages int
}

// Name returns "window".
func (Window) Name() string { return "window" }

// MessageLimit derives the limit from the model's window: clamp(2 * (tokens /
// 200), 100, 2000) in integers. It is 1000 if the window is unknown, that is,
// negative.
func MessageLimit(maxInputTokens int) int {
	if maxInputTokens < 0 {
		return 1000
	}
	return min(max(2*(maxInputTokens/200), 100), 2000)
}

// Propose offers the shortest cut that meets the limit, with a notice.
func (w Window) Propose(ctx context.Context, v *policy.View) (policy.Proposal, error) {
	over := -max(w.Messages, 0)
	if w.Messages == 0 {
		over = -MessageLimit(-1)
	}
	for i := range v.Messages {
		over += held(v, i)
	}
	if over <= 0 {
		return policy.Proposal{}, nil
	}
	drops, err := policy.Drop{}.Propose(ctx, v)
	counted := 0 // each group removes a superset of the previous group
	for k, group := range drops.Groups {
		for _, i := range group[0].Cut.Removed[counted:] {
			over -= held(v, i)
		}
		counted = len(group[0].Cut.Removed)
		if over <= 0 || k == len(drops.Groups)-1 {
			group[0].Reason = "older than the bound on the number of messages"
			return policy.Proposal{Groups: [][]policy.Edit{group}}, err
		}
	}
	return policy.Proposal{}, err
}

// held returns 1 for a message that counts for the limit, otherwise 0.
func held(v *policy.View, i int) int {
	if v.Pinned[i] || v.Owned(i) {
		return 0
	}
	return 1
}
