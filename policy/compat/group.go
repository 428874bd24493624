package compat

import (
	"context"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Groups removes whole iterations of an agent loop, oldest first, without a
// notice. A group consists of an assistant message with calls, all messages up to the
// last result that answers it, the results right after them that answer no call, and one
// "[steering]" message after those. Messages between groups stay, as do the last group,
// pinned messages, the anchor and the open round.
type Groups struct {
	Since func(*policy.View) int // first index at which a group may begin; nil = any index
}

// Name returns "groups".
func (Groups) Name() string { return "groups" }

// Propose offers alternatives: the view without the oldest group, without the
// two oldest, and so on.
func (g Groups) Propose(_ context.Context, v *policy.View) (policy.Proposal, error) {
	out := policy.Proposal{Alternatives: true}
	var removed []int
	groups := groupsOf(v, boundary(g.Since, v, 0))
	for _, group := range groups[:max(len(groups)-1, 0)] {
		if !droppable(v, group) {
			continue
		}
		for i := group.Start; i < group.End; i++ {
			removed = append(removed, i)
		}
		out.Groups = append(out.Groups, []policy.Edit{{
			Decision: policy.Dropped,
			Reason:   "oldest iteration of the loop, over the budget",
			Cut:      &policy.Cut{Removed: removed[:len(removed):len(removed)]}, // nothing else moves
		}})
	}
	return out, nil
}

// Takes returns the messages of all removable groups but the last group.
func (g Groups) Takes(v *policy.View) (at []int) {
	groups := groupsOf(v, boundary(g.Since, v, 0))
	for _, group := range groups[:max(len(groups)-1, 0)] {
		for i := group.Start; i < group.End && droppable(v, group); i++ {
			at = append(at, i)
		}
	}
	return at
}

// groupsOf returns the spans of the groups that begin at from or later.
func groupsOf(v *policy.View, from int) []message.Round {
	var groups []message.Round
	for r := 0; r < len(v.Rounds); r++ {
		if span := v.Rounds[r]; span.Start < from || !iteration(v, span) {
			continue
		}
		group := v.Rounds[r]
		for r+1 < len(v.Rounds) && v.Messages[v.Rounds[r+1].Start].Role == message.RoleTool {
			r++
			group.End = v.Rounds[r].End
		}
		if next := r + 1; next < len(v.Rounds) && v.Rounds[next].Start != v.Anchor && isSteering(&v.Messages[v.Rounds[next].Start]) {
			r = next
			group.End = v.Rounds[r].End
		}
		groups = append(groups, group)
	}
	return groups
}

// iteration reports whether a round begins with an assistant message that holds
// a call.
func iteration(v *policy.View, span message.Round) bool {
	m := &v.Messages[span.Start]
	return m.Role == message.RoleAssistant && m.Has(message.KindToolCall)
}

func droppable(v *policy.View, span message.Round) bool {
	if span.End > v.Open || span.Start <= v.Anchor && v.Anchor < span.End {
		return false
	}
	for i := span.Start; i < span.End; i++ {
		if v.Pinned[i] {
			return false
		}
	}
	return true
}
