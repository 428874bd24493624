package policy

import "context"

// Drop gives up whole rounds, oldest first: never pinned ones, never the
// anchor, never the newest or the open round. A system notice says how many
// messages are gone.
type Drop struct {
	NoNotice bool
}

// Name returns "drop".
func (Drop) Name() string { return "drop" }

// Propose offers alternatives: without the oldest round, without the two
// oldest, and so on.
func (d Drop) Propose(_ context.Context, v *View) (Proposal, error) {
	out := Proposal{Alternatives: true}
	omitted, removed := ownNotices(v)
	notices := len(removed)
	for r, span := range v.Rounds {
		if r == len(v.Rounds)-1 || span.End > v.Open || v.pinnedRound(r) || v.holdsAnchor(r) || v.owned(r) && !IsSummary(v.Messages[span.Start]) {
			continue
		}
		for i := span.Start; i < span.End; i++ {
			removed = append(removed, i)
		}
		omitted += span.Len()
		e := Edit{Decision: Dropped, Reason: "oldest round, over the budget", Cut: &Cut{
			Removed: append([]int(nil), removed...),
			Recent:  span.End,
		}}
		if !d.NoNotice {
			notice := NewNotice(omitted)
			e.Cut.New = &notice
		}
		if notices > 0 || v.saves(e.Cut) {
			out.Groups = append(out.Groups, []Edit{e})
		}
	}
	return out, nil
}

// ownNotices returns the notices of earlier drops, and the number they state.
func ownNotices(v *View) (omitted int, at []int) {
	for i := range v.Messages {
		if n, ok := ParseNotice(v.Messages[i]); ok && !v.Pinned[i] {
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
