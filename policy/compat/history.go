package compat

import (
	"context"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// History limits the cost of the conversation before a boundary. It keeps the newest
// rounds that fit, and replaces the others by a system notice. The anchor and the newest
// round always stay and are counted first. Pinned messages stay and are not counted. Copies
// that [policy.Duplicates] can remove later do not reduce the room.
type History struct {
	MaxTokens int                    // 0 = the room in the budget
	Since     func(*policy.View) int // end of the conversation; nil = end of the view
}

// Name returns "history".
func (History) Name() string { return "history" }

// Propose offers one cut, or nothing if everything fits.
func (h History) Propose(_ context.Context, v *policy.View) (policy.Proposal, error) {
	room := v.Budget.Cap - v.Fixed
	for r := range v.Rounds {
		if pinnedRound(v, r) {
			room -= roundCost(v, r)
		}
	}
	room += cost(v, copies(v))
	past := pastOf(v, boundary(h.Since, v, len(v.Messages)))
	e, used := past.cut(h.limit(room))
	if e == nil {
		return policy.Proposal{}, nil
	}
	if used+v.Cost.Message(*e.Cut.New) > room {
		widest := v.Cost.Message(policy.NewNotice(past.earlier + len(v.Messages)))
		e, _ = past.cut(h.limit(room - widest))
	}
	if !saves(v, e.Cut) {
		return policy.Proposal{}, nil
	}
	return policy.Proposal{Groups: [][]policy.Edit{{*e}}}, nil
}

// Takes returns the messages that History removes if there is no room at all.
func (h History) Takes(v *policy.View) (at []int) {
	past := pastOf(v, boundary(h.Since, v, len(v.Messages)))
	at = past.notices
	for _, r := range past.rounds {
		for i := v.Rounds[r].Start; i < v.Rounds[r].End && !past.must[r]; i++ {
			at = append(at, i)
		}
	}
	return at
}

// limit returns the smaller of room and the configured limit.
func (h History) limit(room int) int {
	if h.MaxTokens > 0 {
		room = min(room, h.MaxTokens)
	}
	return room
}

// past is the part of a conversation that History may cut.
type past struct {
	v       *policy.View
	rounds  []int        // in order, without pinned rounds and notices
	must    map[int]bool // by round: whether it stays at any cost
	notices []int        // indexes of the notices of earlier cuts
	earlier int          // number of messages that these notices state
}

func pastOf(v *policy.View, end int) past {
	p := past{v: v, must: map[int]bool{}}
	p.earlier, p.notices = notices(v)
	for r, span := range v.Rounds {
		if _, notice := policy.ParseNotice(v.Messages[span.Start]); span.End > end || pinnedRound(v, r) || notice && v.Owned(span.Start) {
			continue
		}
		p.rounds = append(p.rounds, r)
		p.must[r] = v.Anchor >= 0 && v.RoundOf(v.Anchor) == r || span.End > v.Open
	}
	if n := len(p.rounds); n > 0 {
		p.must[p.rounds[n-1]] = true
	}
	return p
}

// cut returns an edit that leaves at most limit tokens, and the number of tokens that it
// leaves. e is nil if nothing has to be removed. The first remaining round is never a
// result that answers no call, unless that round must stay.
func (p past) cut(limit int) (e *policy.Edit, used int) {
	for r, must := range p.must {
		if must {
			used += roundCost(p.v, r)
		}
	}
	first := len(p.rounds)
	for ; first > 0; first-- {
		r := p.rounds[first-1]
		if p.must[r] {
			continue
		}
		cost := roundCost(p.v, r)
		if used+cost > limit {
			break
		}
		used += cost
	}
	for first < len(p.rounds) && !p.must[p.rounds[first]] && p.v.Messages[p.v.Rounds[p.rounds[first]].Start].Role == message.RoleTool {
		used -= roundCost(p.v, p.rounds[first])
		first++
	}
	return p.without(first), used
}

// without returns the edit that removes the rounds before p.rounds[first].
func (p past) without(first int) *policy.Edit {
	removed := append([]int(nil), p.notices...)
	for _, r := range p.rounds[:first] {
		if p.must[r] {
			continue
		}
		for i := p.v.Rounds[r].Start; i < p.v.Rounds[r].End; i++ {
			removed = append(removed, i)
		}
	}
	if len(removed) == len(p.notices) {
		return nil
	}
	notice := policy.NewNotice(p.earlier + len(removed) - len(p.notices))
	recent := removed[len(removed)-1] + 1
	if first < len(p.rounds) {
		recent = p.v.Rounds[p.rounds[first]].Start
	}
	return &policy.Edit{
		Decision: policy.Dropped,
		Reason:   "older than the history's limit allows",
		Cut:      &policy.Cut{Removed: removed, Recent: recent, New: &notice},
	}
}

func roundCost(v *policy.View, r int) int {
	n := 0
	for i := v.Rounds[r].Start; i < v.Rounds[r].End; i++ {
		n += v.Tokens[i]
	}
	return n
}

// saves reports whether a cut makes the view cheaper.
func saves(v *policy.View, c *policy.Cut) bool { return v.Cost.Message(*c.New) < cost(v, c.Removed) }

// cost returns the sum of the costs of messages.
func cost(v *policy.View, at []int) (n int) {
	for _, i := range at {
		n += v.Tokens[i]
	}
	return n
}

// copies returns the copies of system messages that a later stage removes if the budget
// requires it. It excludes the first message, which that stage removes last.
func copies(v *policy.View) []int {
	return slices.DeleteFunc(policy.Duplicates{}.Takes(v), func(i int) bool { return i == 0 })
}

// notices returns the indexes of the notices of earlier cuts, and the sum of the numbers
// in them.
func notices(v *policy.View) (omitted int, at []int) {
	for i := range v.Messages {
		if n, ok := policy.ParseNotice(v.Messages[i]); ok && v.Owned(i) {
			omitted += n
			at = append(at, i)
		}
	}
	return omitted, at
}
