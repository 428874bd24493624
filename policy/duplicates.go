package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/message"
)

// Duplicates removes older copies of a pinned system or developer message that
// occurs again, byte for byte, later in the view. It removes the oldest copy
// first, but the first message of the conversation last. It never removes the
// newest copy, a message that the caller protects, or a copy inside a round,
// behind an unanswered call, or behind all unpinned messages.
type Duplicates struct{}

// reasonDuplicate is the reason recorded for a dropped copy.
const reasonDuplicate = "duplicate_of"

// Name returns "duplicates".
func (Duplicates) Name() string { return "duplicates" }

// Propose offers alternatives: the view without one copy, without two, and so
// on.
func (Duplicates) Propose(_ context.Context, v *View) (Proposal, error) {
	out := Proposal{Alternatives: true}
	all := v.duplicates()
	for n := range all {
		out.Groups = append(out.Groups, []Edit{{
			Decision: Dropped,
			Reason:   reasonDuplicate,
			Cut:      &Cut{Removed: slices.Sorted(slices.Values(all[:n+1])), Copies: true},
		}})
	}
	return out, nil
}

// Takes returns every removable copy.
func (Duplicates) Takes(v *View) []int { return v.duplicates() }

// duplicates returns the removable copies in the order of their removal.
func (v *View) duplicates() (at []int) { return v.duplicatesBeside(make([]bool, len(v.Messages))) }

// duplicatesBeside is duplicates of the view without the messages in gone.
func (v *View) duplicatesBeside(gone []bool) (at []int) {
	newest := map[message.Fingerprint][]int{} // by content: messages that are not identical to each other
	free := false                             // an unpinned message stands behind
	waits := v.waiting()
	for i := len(v.Messages) - 1; i >= 0; i-- {
		m := &v.Messages[i]
		free = free || !v.Pinned[i] && !gone[i]
		if !instructs(m) {
			continue
		}
		fp := m.Fingerprint()
		if !slices.ContainsFunc(newest[fp], func(k int) bool { return message.Identical(*m, v.Messages[k]) }) {
			newest[fp] = append(newest[fp], i)
		} else if free && v.Pinned[i] && !m.Protected && v.Rounds[v.round[i]].Len() == 1 && i < waits {
			at = append(at, i)
		}
	}
	slices.Reverse(at)
	if len(at) > 0 && at[0] == 0 {
		at = append(at[1:], 0)
	}
	return at
}

// waiting returns the start of the round that has unanswered calls, or
// len(v.Messages) if there is none.
func (v *View) waiting() int {
	if v.Open < len(v.Messages) && v.Rounds[v.round[v.Open]].Assistant {
		return v.Open
	}
	return len(v.Messages)
}

// Fits reports whether the view is within the budget, or will be once a later
// stage has removed duplicate messages.
func (v *View) Fits() bool {
	total := v.Total()
	return total <= v.Budget.Cap || total-v.cost(v.spare()) <= v.Budget.Cap
}

// spare returns the copies that a later stage removes if the budget requires
// it. It excludes the first message, because some providers need it there.
func (v *View) spare() []int { return v.spareBeside(make([]bool, len(v.Messages))) }

// spareBeside is spare of the view without the messages in gone.
func (v *View) spareBeside(gone []bool) []int {
	if v.reach != nil && !slices.ContainsFunc(v.reach.takers, func(t Taker) bool { _, ok := t.(Duplicates); return ok }) {
		return nil
	}
	return slices.DeleteFunc(v.duplicatesBeside(gone), func(i int) bool { return i == 0 })
}

// isCopy reports whether pinned message i may be missing from the new view
// because an identical later message is still there.
func (v *View) isCopy(i int, b *Conversation, at placed) bool {
	m := &v.Messages[i]
	if m.Protected || !instructs(m) {
		return false
	}
	for k := i + 1; k < len(v.Messages); k++ {
		if _, there := at.index(b.items.at(k).src); there && message.Identical(*m, v.Messages[k]) {
			return true
		}
	}
	return false
}

// A CopyRecipe removes copies of a pinned message. Pinned messages have no
// ordinal, so the recipe counts the messages with the same content that stand
// between two unpinned messages. If their number is not Had, it removes
// nothing: the view was restored, or the message has changed since.
type CopyRecipe struct {
	Of   message.Fingerprint `json:"of"`
	At   int                 `json:"at"`   // ordinal of the unpinned message behind them
	Had  int                 `json:"had"`  // number of copies there
	Gone []int               `json:"gone"` // which of those were removed, from 0
	Stay int                 `json:"stay"` // At of the newest copy, which stays
}

// recordCopies returns recipes for the removed copies.
func (c *Conversation) recordCopies(removed []int, ord []int) (out []CopyRecipe) {
	type place struct {
		of message.Fingerprint
		at int
	}
	stands := map[place][]int{}
	newest := map[message.Fingerprint]int{}
	for i := range c.items.len() {
		if m := &c.items.at(i).m; c.pins.Pinned(m) {
			p := place{m.Fingerprint(), ord[i]}
			stands[p] = append(stands[p], i)
			newest[p.of] = ord[i]
		}
	}
	for p, all := range stands {
		r := CopyRecipe{Of: p.of, At: p.at, Had: len(all), Stay: newest[p.of]}
		for k, i := range all {
			if slices.Contains(removed, i) {
				r.Gone = append(r.Gone, k)
			}
		}
		if len(r.Gone) > 0 {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b CopyRecipe) int {
		return cmp.Or(cmp.Compare(a.At, b.At), slices.Compare(a.Of[:], b.Of[:]))
	})
	return out
}

// replayCopies returns an edit that removes the recorded copies again. ok is
// false if there is nothing to remove.
func (c *Conversation) replayCopies(all []CopyRecipe, index []int) (e Edit, ok bool, err error) {
	e = Edit{Decision: Dropped, Reason: reasonDuplicate, Cut: &Cut{Copies: true}}
	for k := range all {
		r := &all[k]
		if r.At < 0 || r.At >= len(index) {
			return e, false, fmt.Errorf("%w: copies before message %d of %d", ErrEdit, r.At, len(index))
		}
		from := 0
		if r.At > 0 {
			from = index[r.At-1] + 1
		}
		e.Cut.Removed = append(e.Cut.Removed, c.copiesIn(r, from, index[r.At])...)
	}
	slices.Sort(e.Cut.Removed)
	return e, len(e.Cut.Removed) > 0, nil
}

// copiesIn returns the messages in [from, to) that a recipe removes.
func (c *Conversation) copiesIn(r *CopyRecipe, from, to int) (gone []int) {
	is := func(i int) bool {
		m := &c.items.at(i).m
		return c.pins.Pinned(m) && m.Fingerprint() == r.Of
	}
	var there []int
	for i := from; i < to; i++ {
		if is(i) {
			there = append(there, i)
		}
	}
	if len(there) != r.Had {
		return nil
	}
	for _, k := range r.Gone {
		if k < 0 || k >= len(there) || c.items.at(there[k]).m.Protected || !c.staysBehind(there[k], is) {
			return nil
		}
		gone = append(gone, there[k])
	}
	return gone
}

// staysBehind reports whether a message after i satisfies is.
func (c *Conversation) staysBehind(i int, is func(int) bool) bool {
	for k := i + 1; k < c.items.len(); k++ {
		if is(k) {
			return true
		}
	}
	return false
}
