package reduce

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A CopyRecipe removes copies of a pinned message. Pinned messages have no ordinal, so
// the recipe counts the messages with the same content between two unpinned messages. If
// their number is not Had, the recipe removes nothing, because the view was restored or
// the message has changed.
type CopyRecipe struct {
	Of   message.Fingerprint `json:"of"`
	At   int                 `json:"at"`   // ordinal of the unpinned message that follows the copies
	Had  int                 `json:"had"`  // number of copies before that message
	Gone []int               `json:"gone"` // numbers of the removed copies, from 0
	Stay int                 `json:"stay"` // ordinal of the unpinned message that follows the newest copy; that copy stays
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
func (c *Conversation) replayCopies(all []CopyRecipe, index []int) (e policy.Edit, ok bool, err error) {
	e = policy.Edit{Decision: policy.Dropped, Reason: duplicateOf, Cut: &policy.Cut{Copies: true}}
	for k := range all {
		r := &all[k]
		if r.At < 0 || r.At >= len(index) {
			return e, false, fmt.Errorf("%w: copies before message %d of %d", policy.ErrEdit, r.At, len(index))
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
		if k < 0 || k >= len(there) || c.items.at(there[k]).m.Protected || !c.anyAfter(there[k], is) {
			return nil
		}
		gone = append(gone, there[k])
	}
	return gone
}

// anyAfter reports whether a message after i satisfies is.
func (c *Conversation) anyAfter(i int, is func(int) bool) bool {
	for k := i + 1; k < c.items.len(); k++ {
		if is(k) {
			return true
		}
	}
	return false
}

// duplicateOf is the reason that [policy.Duplicates] gives for a cut.
const duplicateOf = "duplicate_of"
