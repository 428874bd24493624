package policy

import (
	"context"

	"github.com/agentcompact/compact/message"
)

// Drop gives up whole rounds, oldest first: never pinned ones, never the
// anchor, never the newest or the open round. A system notice says how many
// messages are gone, unless there is no room even for that.
type Drop struct {
	NoNotice bool
}

// Name returns "drop".
func (Drop) Name() string { return "drop" }

// Propose offers alternatives: without the oldest round, without the two
// oldest, and so on. A result that answers no call goes with the round before
// it.
func (d Drop) Propose(_ context.Context, v *View) (Proposal, error) {
	out := Proposal{Alternatives: true}
	omitted, removed := ownNotices(v)
	notices := len(removed)
	offer := func(reason string, recent int, notice bool) {
		e := Edit{Decision: Dropped, Reason: reason, Cut: &Cut{Removed: append([]int(nil), removed...), Recent: recent}}
		if notice {
			m := NewNotice(omitted)
			e.Cut.New = &m
		}
		if notices > 0 || v.saves(e.Cut) {
			out.Groups = append(out.Groups, []Edit{e})
		}
	}
	words := 0 // what notices cost, at the end
	for _, i := range removed {
		words += v.Tokens[i]
	}
	for _, unit := range v.oldest() {
		removed = append(removed, unit...)
		omitted += len(unit)
		words = v.Cost.Message(NewNotice(omitted))
		offer("oldest round, over the budget", unit[len(unit)-1]+1, !d.NoNotice)
	}
	if !d.NoNotice && words > 0 && v.TailFloor()+words > v.Budget.Cap {
		offer("oldest round, and no room for a notice", 0, false)
	}
	return out, nil
}

// oldest returns what may be given up, oldest first: the messages of a round,
// with the stray results behind it.
func (v *View) oldest() (units [][]int) {
	behind := false // nothing but pinned messages stands between this round and the last unit
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

// ownNotices returns the notices of earlier drops, and the number they state.
func ownNotices(v *View) (omitted int, at []int) {
	for i := range v.Messages {
		if n, ok := ParseNotice(v.Messages[i]); ok && v.Owned(i) {
			omitted += n
			at = append(at, i)
		}
	}
	return omitted, at
}

// saves reports whether a cut makes the view cheaper.
func (v *View) saves(c *Cut) bool {
	n := 0
	for _, i := range c.Removed {
		n += v.Tokens[i]
	}
	return c.New == nil && n > 0 || c.New != nil && v.Cost.Message(*c.New) < n
}
