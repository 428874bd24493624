package policy

import (
	"context"
	"slices"

	"github.com/agentcompact/compact/message"
)

// Drop removes whole rounds, oldest first, but never a pinned round, the
// anchor, the newest round or the open round. A system notice states how many
// messages were removed, unless there is no room for the notice.
type Drop struct {
	NoNotice bool
}

// Name returns "drop".
func (Drop) Name() string { return "drop" }

// Propose offers alternatives: the view without the oldest round, without the
// two oldest, and so on. A result that answers no call is removed with the
// round before it.
func (d Drop) Propose(_ context.Context, v *View) (Proposal, error) {
	out := Proposal{Alternatives: true}
	omitted, removed := ownNotices(v)
	notices := len(removed)
	freed := v.cost(removed)
	words := freed // cost of the notices after the cut
	offer := func(reason string, recent int, notice *message.Message) {
		if notices > 0 || notice == nil || v.Cost.Message(*notice) < freed {
			out.Groups = append(out.Groups, []Edit{{Decision: Dropped, Reason: reason, Cut: &Cut{
				Removed: removed[:len(removed):len(removed)], Recent: recent, New: notice,
			}}})
		}
	}
	for _, unit := range v.oldest() {
		removed = append(removed, unit...)
		omitted += len(unit)
		freed += v.cost(unit)
		var notice *message.Message
		if !d.NoNotice {
			m := NewNotice(omitted)
			notice, words = &m, v.Cost.Message(m)
		}
		offer("oldest round, over the budget", unit[len(unit)-1]+1, notice)
	}
	if !d.NoNotice && words > 0 && v.Floor()+words > v.Budget.Most() {
		offer("oldest round, and no room for a notice", 0, nil)
	}
	return out, nil
}

// Takes returns the messages of all removable rounds, and the notices.
func (d Drop) Takes(v *View) []int {
	_, at := ownNotices(v)
	return append(at, slices.Concat(v.oldest()...)...)
}

// oldest returns the removable units, oldest first. A unit holds the messages of a
// round and the results right after it that answer no call.
func (v *View) oldest() (units [][]int) {
	behind := false // only pinned messages are between this round and the last unit
	for r, span := range v.Rounds {
		if pinned := v.pinnedRound(r); pinned || r == len(v.Rounds)-1 || span.End > v.Open || v.holdsAnchor(r) || v.owned(r) && !IsSummary(v.Messages[span.Start]) {
			behind = behind && pinned
			continue
		}
		if !behind || v.Messages[span.Start].Role != message.RoleTool {
			units = append(units, nil)
		}
		behind = true
		for i := span.Start; i < span.End; i++ {
			units[len(units)-1] = append(units[len(units)-1], i)
		}
	}
	return units
}

// ownNotices returns the indexes of the notices of earlier drops, and the sum
// of the numbers they state.
func ownNotices(v *View) (omitted int, at []int) {
	for i := range v.Messages {
		if n, ok := ParseNotice(v.Messages[i]); ok && v.Owned(i) {
			omitted += n
			at = append(at, i)
		}
	}
	return omitted, at
}

// cost returns the sum of the costs of messages.
func (v *View) cost(at []int) int {
	n := 0
	for _, i := range at {
		n += v.Tokens[i]
	}
	return n
}
