package policy

import (
	"context"

	"github.com/agentcompact/compact/message"
)

// History bounds what the conversation before a boundary costs: its rounds
// are kept newest first, as far as they fit, and a system notice stands for
// the rest. The anchor and the newest round of the conversation are paid for
// first and always stay; pinned messages stay and are not counted.
type History struct {
	MaxTokens int      // 0: what the budget leaves
	Since     Boundary // the conversation ends here; nil = with the view
}

// Name returns "history".
func (History) Name() string { return "history" }

// Propose offers one cut, or nothing where all of it fits.
func (h History) Propose(_ context.Context, v *View) (Proposal, error) {
	room := v.Budget.Cap - v.Fixed
	for r := range v.Rounds {
		if v.pinnedRound(r) {
			room -= v.roundCost(r)
		}
	}
	room += v.cost(v.spare())
	past := v.past(h.Since.at(v, len(v.Messages)))
	e, used := past.cut(h.limit(room))
	if e == nil {
		return Proposal{}, nil
	}
	if used+v.Cost.Message(*e.Cut.New) > room {
		widest := v.Cost.Message(NewNotice(past.earlier + len(v.Messages)))
		e, _ = past.cut(h.limit(room - widest))
	}
	if !v.saves(e.Cut) {
		return Proposal{}, nil
	}
	return Proposal{Groups: [][]Edit{{*e}}}, nil
}

// Takes returns what it would leave no room for at all.
func (h History) Takes(v *View) (at []int) {
	past := v.past(h.Since.at(v, len(v.Messages)))
	at = past.notices
	for _, r := range past.rounds {
		for i := v.Rounds[r].Start; i < v.Rounds[r].End && !past.must[r]; i++ {
			at = append(at, i)
		}
	}
	return at
}

// limit is the lesser of what is configured and what there is room for.
func (h History) limit(room int) int {
	if h.MaxTokens > 0 {
		room = min(room, h.MaxTokens)
	}
	return room
}

// past is the part of a conversation that may be cut.
type past struct {
	v       *View
	rounds  []int        // in order; not pinned, no notices
	must    map[int]bool // of these: what stays whatever it costs
	notices []int        // of earlier cuts
	earlier int          // messages that those stand for
}

func (v *View) past(end int) past {
	p := past{v: v, must: map[int]bool{}}
	p.earlier, p.notices = ownNotices(v)
	for r, span := range v.Rounds {
		if _, notice := ParseNotice(v.Messages[span.Start]); span.End > end || v.pinnedRound(r) || notice && v.owned(r) {
			continue
		}
		p.rounds = append(p.rounds, r)
		p.must[r] = v.holdsAnchor(r) || span.End > v.Open
	}
	if n := len(p.rounds); n > 0 {
		p.must[p.rounds[n-1]] = true
	}
	return p
}

// cut returns the edit that leaves at most limit tokens, and what it leaves;
// nil where nothing has to go. No result stands first in what is left.
func (p past) cut(limit int) (e *Edit, used int) {
	for r, must := range p.must {
		if must {
			used += p.v.roundCost(r)
		}
	}
	first := len(p.rounds)
	for ; first > 0; first-- {
		r := p.rounds[first-1]
		if p.must[r] {
			continue
		}
		cost := p.v.roundCost(r)
		if used+cost > limit {
			break
		}
		used += cost
	}
	for first < len(p.rounds) && !p.must[p.rounds[first]] && p.v.Messages[p.v.Rounds[p.rounds[first]].Start].Role == message.RoleTool {
		used -= p.v.roundCost(p.rounds[first])
		first++
	}
	return p.without(first), used
}

// without returns the edit that takes out what stands before the round that
// is the first of the kept ones.
func (p past) without(first int) *Edit {
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
	notice := NewNotice(p.earlier + len(removed) - len(p.notices))
	recent := removed[len(removed)-1] + 1
	if first < len(p.rounds) {
		recent = p.v.Rounds[p.rounds[first]].Start
	}
	return &Edit{
		Decision: Dropped,
		Reason:   "older than what the history may cost",
		Cut:      &Cut{Removed: removed, Recent: recent, New: &notice},
	}
}

func (v *View) roundCost(r int) int {
	n := 0
	for i := v.Rounds[r].Start; i < v.Rounds[r].End; i++ {
		n += v.Tokens[i]
	}
	return n
}
