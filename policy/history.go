package policy

import (
	"context"

	"github.com/agentcompact/compact/message"
)

// History limits the cost of the conversation before a boundary. It keeps the
// newest rounds that fit, and puts a system notice in place of the others. The
// anchor and the newest round always stay and are counted first; pinned
// messages stay and are not counted.
type History struct {
	MaxTokens int      // 0: the room in the budget
	Since     Boundary // end of the conversation; nil = end of the view
}

// Name returns "history".
func (History) Name() string { return "history" }

// Propose offers one cut, or nothing if everything fits.
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

// Takes returns the messages that History removes if there is no room at all.
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

// limit returns the smaller of room and the configured limit.
func (h History) limit(room int) int {
	if h.MaxTokens > 0 {
		room = min(room, h.MaxTokens)
	}
	return room
}

// past is the part of a conversation that History may cut.
type past struct {
	v       *View
	rounds  []int        // in order, without pinned rounds and notices
	must    map[int]bool // those of rounds that stay at any cost
	notices []int        // messages: the notices of earlier cuts
	earlier int          // number of messages that the notices stand for
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

// cut returns an edit that leaves at most limit tokens, and the number of
// tokens it leaves. e is nil if nothing has to be removed. The first round it
// leaves is never a stray result.
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

// without returns the edit that removes the rounds before p.rounds[first].
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
