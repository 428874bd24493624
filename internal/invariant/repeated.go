package invariant

import "github.com/agentcompact/compact/message"

// repeated marks duplicates that a stage may remove although their role is
// never pruned: system or developer messages that occur again later, byte for
// byte, unless the caller protects them. Such a message must be a round of its
// own, before the open calls. After it there must be a copy that is not
// protected, and a message that is neither pinned nor taken.
func (r *reading) repeated(pinned func(message.Message) bool, taken []bool) []bool {
	out := make([]bool, len(r.msgs))
	for i, m := range r.msgs[:r.waiting()] {
		if m.Role != message.RoleSystem && m.Role != message.RoleDeveloper || m.Protected || ours(m) || !pins(pinned, m) || !r.isOwnRound(i) {
			continue
		}
		again, free := false, false
		for k := i + 1; k < len(r.msgs); k++ {
			later := r.msgs[k]
			again = again || !later.Protected && same(m, later)
			free = free || !pins(pinned, later) && (taken == nil || !taken[k])
		}
		out[i] = again && free
	}
	return out
}

// waiting returns the index at which the round of the last assistant message
// begins, if that round has a call without an answer.
func (r *reading) waiting() int {
	for i := len(r.msgs) - 1; i >= 0; i-- {
		if r.msgs[i].Role != message.RoleAssistant {
			continue
		}
		if r.isOpen(i) {
			return r.spans[r.round[i]][0]
		}
		break
	}
	return len(r.msgs)
}

// copied reports whether message i was removed as a copy of a message that is
// still there.
func (j *judge) copied(i int) bool {
	if j.Decisions[i] != dropped || !j.repeats[i] {
		return false
	}
	for k := i + 1; k < len(j.In); k++ {
		if j.place[k] >= 0 && !j.In[k].Protected && same(j.In[i], j.In[k]) {
			return true
		}
	}
	return false
}

// checkCopies: copies are removed only if the budget requires it.
func (j *judge) checkCopies() {
	if j.Earlier || j.Fixed+sum(j.costIn) > j.Budget {
		return
	}
	for i := range j.In {
		if j.copied(i) {
			j.fail(RulePinned, "message %d was removed as a copy, although the history fits the budget", i)
		}
	}
}
