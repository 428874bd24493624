package policy

import "github.com/agentcompact/compact/message"

// Oldest is [View.Partition] with a remainder that ends as soon as the goal is
// reached: its oldest rounds, up to the first boundary from which on the view
// and reserve more tokens cost no more than goal. What lies above it is
// recent. A goal below zero, and one that is out of reach, take all.
//
// An answer goes with the question: behind a summary, which is an assistant's
// message, some servers refuse another one. So does a result that answers no
// call. Summaries and notices of our own are part of the remainder wherever they
// stand.
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
	last := -1 // round that goes
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

// follows reports whether round r can't be the first of what is left when
// round last, which came before it, is gone.
func (v *View) follows(last, r int) bool {
	question := v.Messages[v.Rounds[last].Start].IsUser() && v.turn[last] == v.turn[r]
	return question || v.Messages[v.Rounds[r].Start].Role == message.RoleTool
}
