package policy

import (
	"errors"
	"slices"
	"sort"
)

// take applies the shortest run of groups that reaches the goal, and keeps
// the outcome if it breaks no promise. What breaks a rule of where the view
// goes is tried again in another order, then with fewer groups.
func (e *Engine) take(p *Pass, proposal Proposal, q Request, o *Outcome, goal int) {
	n, err := shortest(proposal, o, goal)
	for tries := 0; err == nil; tries++ {
		edits := proposal.first(n)
		var refused error
		if refused, err = e.try(p, edits, q, o); err != nil || refused == nil {
			break
		}
		if behind := pinnedBehind(edits); behind != nil {
			if again, broken := e.try(p, behind, q, o); again == nil && broken == nil {
				break
			}
		}
		if n = fewer(n, tries); n == 0 {
			err = refused
			break
		}
		p.Err = refused
	}
	if err != nil {
		p.Err, p.Discarded = err, true
	} else if len(p.Edits) > 0 {
		p.Applied = n
	}
}

// try applies edits. They are not kept when the view would be refused where it
// goes, when they break a promise, and when what they gain now would cost the
// view later.
func (e *Engine) try(p *Pass, edits []Edit, q Request, o *Outcome) (refused, broken error) {
	after, err := o.Conversation.Apply(edits)
	if err != nil {
		return nil, err
	}
	view := e.after(o, edits, after, q)
	if err := check(p.Stage, o.View, view, o.Conversation, after); err != nil {
		return nil, err
	}
	if err := q.legal(after); err != nil {
		return err, nil
	}
	if e.lifts(o.View, view) {
		return nil, nil
	}
	p.Edits, p.Recipe = edits, o.Conversation.Record(p.Stage, edits, after)
	o.Conversation, o.View = after, view
	return nil, nil
}

// pinnedBehind returns the edits with their cut in the other order, nil where
// there is none.
func pinnedBehind(edits []Edit) []Edit {
	for i := range edits {
		if c := edits[i].Cut; c != nil && c.New != nil && !c.Behind {
			out := slices.Clone(edits)
			other := *c
			other.Behind = true
			out[i].Cut = &other
			return out
		}
	}
	return nil
}

// fewer returns how many groups to try after n broke a rule: one less a few
// times, for a rule at the edge of what was taken, then half.
func fewer(n, tries int) int {
	if tries < 4 {
		return n - 1
	}
	return n / 2
}

// lifts reports whether edits raise the floor above the budget: a placeholder
// can cost more than the marker that a squeeze would leave.
func (e *Engine) lifts(before, after *View) bool {
	least := e.Least
	if least == nil && e.Floors {
		least = (*View).Floor
	}
	limit := before.Budget.Cap
	return least != nil && after.Total() > limit && least(after) > limit && least(before) <= limit
}

// first returns the edits of the first n groups, or those of group n where
// they are alternatives.
func (p *Proposal) first(n int) []Edit {
	if p.Alternatives {
		return p.Groups[n-1]
	}
	var all []Edit
	for _, g := range p.Groups[:n] {
		all = append(all, g...)
	}
	return all
}

// shortest returns how many groups are taken. What more groups free is never
// less, so that it can be searched.
func shortest(proposal Proposal, o *Outcome, goal int) (int, error) {
	var failed error
	total := o.View.Total()
	n := 1 + sort.Search(len(proposal.Groups)-1, func(k int) bool {
		c, err := o.Conversation.Apply(proposal.first(k + 1))
		if err != nil {
			failed = errors.Join(failed, err)
			return false
		}
		return total-freed(o, c) <= goal
	})
	return n, failed
}

// freed returns by how much after is cheaper, without reading its structure.
func freed(o *Outcome, after *Conversation) int {
	n := o.View.Total() - o.View.Fixed
	at := places(o.Conversation)
	for k := range after.items {
		it := &after.items[k]
		if i, ok := at.of(it.src); ok && o.Conversation.items[i].m.Fingerprint() == it.m.Fingerprint() {
			n -= o.View.Tokens[i]
		} else {
			n -= o.View.Cost.Message(it.m)
		}
	}
	return n
}
