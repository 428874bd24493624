package policy

import "github.com/agentcompact/compact/message"

// Oldest is like [View.Partition], but its remainder holds only as many of the oldest
// rounds as the goal needs: without them, the view plus reserve tokens costs no more
// than goal. Later rounds count as recent. If the goal is negative or cannot be
// reached, the remainder is the same as in Partition.
//
// A question is removed together with its answer, because a summary is an assistant
// message, and some servers refuse a second assistant message right after it. A result
// that answers no call is removed with the round before it. Earlier summaries and
// notices always belong to the remainder.
func (v *View) Oldest(keep Keep, reserve, goal int) Partition {
	recent := v.recentRounds(keep)
	all := v.split(recent)
	over := v.Total() + reserve - goal
	if goal < 0 || v.cost(all.Remainder) <= over {
		return all
	}
	for _, i := range all.Remainder {
		if v.Owned(i) {
			over -= v.Tokens[i]
		}
	}
	last := -1 // the last removed round
	for r := range v.Rounds {
		if recent[r] || v.owned(r) || v.pinnedRound(r) || v.holdsAnchor(r) {
			continue
		}
		if over > 0 || last >= 0 && v.follows(last, r) {
			over -= v.roundCost(r)
			last = r
			continue
		}
		recent[r] = true
	}
	return v.split(recent)
}

// follows reports whether round r must be removed because round last was removed. last
// is the last removed round before r.
func (v *View) follows(last, r int) bool {
	question := v.Messages[v.Rounds[last].Start].IsUser() && v.turn[last] == v.turn[r]
	return question || v.Messages[v.Rounds[r].Start].Role == message.RoleTool
}
