package reduce

import (
	"errors"
	"slices"
	"sort"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// take applies the shortest run of groups that reaches the goal, and keeps the outcome
// if it breaks no promise. If the provider would refuse the new view, take first tries
// other orders of the messages, then other numbers of groups.
func (e *Engine) take(p *Pass, proposal policy.Proposal, q Request, o *Outcome, reached func(*Conversation) bool) {
	n, err := shortest(proposal, o, reached)
	if err == nil {
		n, err = e.takeLegal(p, proposal, q, o, n)
	}
	if err != nil {
		p.Err, p.Discarded = err, true
	} else if len(p.Edits) > 0 {
		p.Applied = n
	}
}

// takeLegal applies n groups. If the provider would refuse that view, it tries the
// nearest other numbers. For alternatives it tries larger numbers first, because they
// still reach the goal. If the provider would refuse every number, takeLegal tries again
// with a notice in front of the remaining messages. It returns the number of groups that
// it applied.
func (e *Engine) takeLegal(p *Pass, proposal policy.Proposal, q Request, o *Outcome, n int) (int, error) {
	var refusal error
	for _, noticed := range []bool{false, true} {
		for _, k := range around(&proposal, n) {
			for v, variant := range o.variants(first(&proposal, k), noticed) {
				refused, err := e.try(p, variant, q, o)
				switch {
				case err != nil && v == 0 && !noticed:
					return k, err
				case err == nil && refused == nil:
					if k < n { // fewer groups than the goal needs
						p.Err, p.illegal = refusal, true
					}
					return k, nil
				case refusal == nil:
					refusal = refused
				}
			}
		}
	}
	p.illegal = true
	return 0, refusal
}

// try applies edits. It discards them if the provider would refuse the new view, if they break a
// promise, or if they raise the floor of the view above the budget (see raisesFloor).
func (e *Engine) try(p *Pass, edits []policy.Edit, q Request, o *Outcome) (refused, broken error) {
	after, err := o.Conversation.Apply(edits)
	if err != nil {
		return nil, err
	}
	view := e.after(o, edits, after, q, o.later)
	if err := check(p.Stage, o.View, view, o.Conversation, after); err != nil {
		return nil, err
	}
	if err := q.legal(after); err != nil {
		return err, nil
	}
	if e.raisesFloor(o.View, view) {
		return nil, nil
	}
	p.Sources = sourcesOf(o.Conversation, edits)
	p.Edits, p.Recipe = edits, o.Conversation.Record(p.Stage, edits, after)
	o.Conversation, o.View = after, view
	return nil, nil
}

// sourcesOf returns, for each text edit, the index of the input message that it changes.
func sourcesOf(c *Conversation, edits []policy.Edit) (out []int) {
	for i := range edits {
		if t := edits[i].Text; t != nil {
			out = append(out, c.Source(t.Index))
		}
	}
	return out
}

// variants returns the edits and, for providers that refuse the usual order of messages,
// copies of the edits with another order of the cut. If noticed is true, it returns only
// variants that put a notice in front of the remaining messages, because some providers
// require that the user speaks first.
func (o *Outcome) variants(edits []policy.Edit, noticed bool) [][]policy.Edit {
	at := slices.IndexFunc(edits, func(e policy.Edit) bool { return e.Cut != nil })
	if at < 0 || edits[at].Cut.Copies || noticed && edits[at].Cut.New != nil {
		if noticed {
			return nil
		}
		return [][]policy.Edit{edits}
	}
	c := *edits[at].Cut
	if noticed {
		notice := policy.NewNotice(o.omits(&c))
		c.New = &notice
	}
	var all [][]policy.Edit
	for _, order := range o.orders(c) {
		out := slices.Clone(edits)
		out[at].Cut = &order
		all = append(all, out)
	}
	return all
}

// orders returns the variants of a cut that are tried in turn. The first is the cut itself. The
// next ones put the new message first and the pinned messages later (see [policy.Cut]): where the
// recent span begins, just before the next assistant message, or just before the first assistant
// message after all removed messages. The last one leaves the first instruction of the conversation
// in front.
func (o *Outcome) orders(c policy.Cut) []policy.Cut {
	all := []policy.Cut{c}
	if !c.Behind {
		behind := c
		behind.Behind = true
		all = append(all, behind)
		from := c.Recent
		for _, at := range answers(o.View, &c) {
			if behind.Recent = at; at > from {
				all, from = append(all, behind), at
			}
		}
	}
	if len(c.Removed) > 1 && c.Removed[0] == 0 && instructing(&o.View.Messages[0]) {
		c.Removed, c.First = c.Removed[1:], true
		all = append(all, c)
	}
	return all
}

// answers returns the indexes of two assistant messages that the cut keeps: the
// first one in the recent span, and the first one after all removed messages.
func answers(v *policy.View, c *policy.Cut) [2]int {
	gone, last := make([]bool, len(v.Messages)), c.Recent
	for _, i := range c.Removed {
		gone[i], last = true, max(last, i)
	}
	next := func(i int) int {
		for i < len(gone) && (gone[i] || !v.Rounds[v.RoundOf(i)].Assistant) {
			i++
		}
		return i
	}
	return [2]int{next(c.Recent), next(last)}
}

// omits returns the number that a notice in place of the cut states: the number of
// removed messages. A removed notice counts with the number that it states.
func (o *Outcome) omits(c *policy.Cut) (n int) {
	for _, i := range c.Removed {
		if had, ok := policy.ParseNotice(o.View.Messages[i]); ok && o.View.Owned(i) {
			n += had
		} else {
			n++
		}
	}
	return n
}

// instructing reports whether a message is an instruction. A summary or notice made by a stage does
// not count as an instruction.
func instructing(m *message.Message) bool {
	_, notice := policy.ParseNotice(*m)
	return (m.Role == message.RoleSystem || m.Role == message.RoleDeveloper) && !notice && !policy.IsSummary(*m)
}

// around returns the numbers of groups to try, in order. The first is n. For
// alternatives, larger numbers follow, first in steps of one and later in growing steps.
// Smaller numbers come last: four in steps of one, because edits often break a rule at
// the edge of the cut, and then by halves.
func around(p *policy.Proposal, n int) []int {
	const near = 64
	all := []int{n}
	if p.Alternatives {
		for k, stride := n+1, 1; k <= len(p.Groups); k += stride {
			all = append(all, k)
			if len(all) > near {
				stride *= 2
			}
		}
		if last := len(p.Groups); all[len(all)-1] != last {
			all = append(all, last)
		}
	}
	for tries := 0; ; tries++ {
		if n--; tries >= 4 {
			n = (n + 1) / 2
		}
		if n <= 0 {
			return all
		}
		all = append(all, n)
	}
}

// raisesFloor reports whether edits raise the floor above the budget. Edits can raise the
// floor because a placeholder can cost more than the marker that squeeze would leave.
func (e *Engine) raisesFloor(before, after *policy.View) bool {
	total := after.Total()
	if total <= before.Budget.Cap {
		return false
	}
	above := after.Floor()
	for _, limit := range []int{before.Budget.Cap, before.Budget.Most()} {
		if total > limit && above > limit && before.Floor() <= limit {
			return true
		}
	}
	return false
}

// first returns the edits of the first n groups. For alternatives it returns only the
// edits of the nth group.
func first(p *policy.Proposal, n int) []policy.Edit {
	if p.Alternatives {
		return p.Groups[n-1]
	}
	var all []policy.Edit
	for _, g := range p.Groups[:n] {
		all = append(all, g...)
	}
	return all
}

// shortest returns the smallest number of groups that reaches the goal. It uses a binary
// search, because more groups never free fewer tokens.
func shortest(proposal policy.Proposal, o *Outcome, reached func(*Conversation) bool) (int, error) {
	var failed error
	n := 1 + sort.Search(len(proposal.Groups)-1, func(k int) bool {
		c, err := o.Conversation.Apply(first(&proposal, k+1))
		if err != nil {
			failed = errors.Join(failed, err)
			return false
		}
		return reached(c)
	})
	return n, failed
}

// freed returns how many tokens after saves compared with the view of o. It does not
// read the structure of after.
func freed(o *Outcome, after *Conversation) int {
	n := o.View.Total() - o.View.Fixed
	at := places(o.Conversation)
	for k := range after.items.len() {
		it := after.items.at(k)
		if i, ok := at.index(it.src); ok && o.Conversation.items.at(i).m.Fingerprint() == it.m.Fingerprint() {
			n -= o.View.Tokens[i]
		} else {
			n -= o.View.Cost.Message(it.m)
		}
	}
	return n
}
