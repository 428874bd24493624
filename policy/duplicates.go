package policy

import (
	"context"
	"slices"

	"github.com/agentcompact/compact/message"
)

// Duplicates removes older copies of a pinned system or developer message that
// occurs again, byte for byte, later in the view. The oldest copy is removed first; a copy
// at the beginning of the conversation is removed last. It never removes the newest copy, a
// message that the caller protects, or a copy inside a round, after an unanswered
// call, or after all unpinned messages.
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

// duplicatesBeside is like duplicates, but for the view without the marked messages.
func (v *View) duplicatesBeside(gone []bool) (at []int) {
	newest := map[message.Fingerprint][]int{} // by content: the newest message of each set of identical ones
	free := false                             // an unpinned message follows
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

// Fits reports whether the view is within the budget, or will be within it after a
// later stage has removed duplicate messages.
func (v *View) Fits() bool {
	total := v.Total()
	return total <= v.Budget.Cap || total-v.cost(v.spare()) <= v.Budget.Cap
}

// spare returns the copies that a later stage removes if the budget requires it. It
// excludes the first message, because some providers require it.
func (v *View) spare() []int { return v.spareBeside(make([]bool, len(v.Messages))) }

// spareBeside is like spare, but for the view without the marked messages.
func (v *View) spareBeside(gone []bool) []int {
	if v.reach != nil && !slices.ContainsFunc(v.reach.takers, func(t Taker) bool { _, ok := t.(Duplicates); return ok }) {
		return nil
	}
	return slices.DeleteFunc(v.duplicatesBeside(gone), func(i int) bool { return i == 0 })
}

// instructs reports whether a message is an instruction. A summary or notice made by a
// stage does not count as a copy.
func instructs(m *message.Message) bool {
	return (m.Role == message.RoleSystem || m.Role == message.RoleDeveloper) && !hasStageForm(m)
}
