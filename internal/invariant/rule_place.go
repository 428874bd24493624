package invariant

// checkPinned: protected and pinned messages, and the other messages of their rounds,
// stay unchanged byte for byte.
func (j *judge) checkPinned() {
	for i, m := range j.In {
		switch o := j.place[i]; {
		case !j.pinnedRound[i], j.copied(i):
		case !j.pinned(m):
			if o < 0 {
				j.fail(RulePinnedRound, "message %d is gone", i)
			}
		case o < 0:
			j.fail(RulePinned, "message %d is gone", i)
		case !same(m, j.Out[o]):
			j.fail(RulePinned, "message %d was changed", i)
		case j.Decisions[i] != kept:
			j.fail(RulePinned, "message %d is pinned, but its decision is %s", i, j.Decisions[i])
		}
	}
}

// checkOrphans: the view has no result without a call, and no call without an
// answer, that the history does not have as well.
func (j *judge) checkOrphans() {
	for id, n := range j.out.lonelyResults {
		if n > j.in.lonelyResults[id] {
			j.fail(RuleOrphan, "the result of %q has lost its call", id)
		}
	}
	for id, n := range j.out.lonelyCalls {
		if n > j.in.lonelyCalls[id] {
			j.fail(RuleOrphan, "the call %q has lost its result", id)
		}
	}
}

// checkRounds: a round is kept or removed as a whole, and its messages stay together.
func (j *judge) checkRounds() {
	for r, span := range j.in.spans {
		there, at := 0, -1
		for i := span[0]; i < span[1]; i++ {
			o := j.place[i]
			if o < 0 {
				continue
			}
			if there > 0 && o != at+1 {
				j.fail(RuleRound, "round %d (messages %d to %d) is torn apart at message %d", r, span[0], span[1]-1, i)
			}
			there, at = there+1, o
		}
		if size := span[1] - span[0]; there != 0 && there != size {
			j.fail(RuleRound, "round %d keeps %d of its %d messages", r, there, size)
		}
	}
}

// checkOrder: the pinned rounds older than the recent span come first, then the
// messages of the compaction, then the rest in its order.
func (j *judge) checkOrder() {
	mark := len(j.Out)
	for o, i := range j.src {
		if i < 0 {
			mark = o
			break
		}
	}
	if mark == len(j.Out) {
		j.checkUnmarkedOrder()
		return
	}
	last := j.checkFront(j.src[:mark])
	j.checkBack(j.src[mark+1:], last)
}

// checkUnmarkedOrder checks views without a summary or a notice. If no message was
// removed, all are in their order.
func (j *judge) checkUnmarkedOrder() {
	front := 0
	for o, i := range j.src {
		if o > 0 && i < j.src[o-1] && front == 0 {
			front = o
		}
	}
	if front > 0 && len(j.Out) == len(j.In) && !j.Earlier {
		j.fail(RuleOrder, "message %d comes after message %d, and nothing was taken out", j.src[front], j.src[front-1])
		return
	}
	last := j.checkFront(j.src[:front])
	j.checkBack(j.src[front:], last)
}

// checkFront checks the messages before the summary, and returns the newest of
// them.
func (j *judge) checkFront(front []int) int {
	last, newest := -1, -1
	for _, i := range front {
		newest = max(newest, i)
		switch {
		case !j.mayLead(i):
			j.fail(RuleOrder, "message %d stands before the summary and is not pinned, or is the last user message", i)
		case j.Earlier && j.in.hasUser(i): // the message may have been the anchor of an earlier view
		case i < last:
			j.fail(RuleOrder, "message %d comes after message %d among the pinned", i, last)
		default:
			last = i
		}
	}
	return newest
}

// checkBack checks the messages after the summary, given the newest message before
// it.
func (j *judge) checkBack(back []int, newest int) {
	last, lastUser, recent := -1, -1, false
	for _, i := range back {
		if i < 0 {
			continue // a second summary or notice, which checkSummary judges
		}
		// A message that was the user's last message at an earlier time may come after
		// younger pinned messages.
		before := &last
		if j.Earlier && j.in.hasUser(i) {
			before = &lastUser
		}
		if i < *before {
			j.fail(RuleOrder, "message %d comes after message %d", i, *before)
		}
		*before = max(*before, i)
		anchor := j.in.anchor >= 0 && j.in.round[i] == j.in.round[j.in.anchor] || j.Earlier && j.in.hasUser(i)
		switch {
		case anchor, ours(j.In[i]): // an earlier summary that was not replaced
		case j.pinnedRound[i] && i < newest && !recent:
			j.fail(RuleOrder, "message %d is pinned and older than message %d, which stands before the summary", i, newest)
		case !j.pinnedRound[i] && i < newest:
			j.fail(RuleOrder, "message %d stands before the summary, and the recent span begins with message %d", newest, i)
		case !j.pinnedRound[i]:
			recent = true
		}
	}
}

// checkAnchor: the last user message stays verbatim, after the summary.
func (j *judge) checkAnchor() {
	a := j.in.anchor
	if a < 0 {
		return
	}
	o := j.place[a]
	if o < 0 {
		j.fail(RuleAnchor, "message %d is gone", a)
		return
	}
	if !same(j.In[a], j.Out[o]) {
		j.fail(RuleAnchor, "message %d was changed", a)
	}
	for k := o + 1; k < len(j.Out); k++ {
		if j.src[k] < 0 {
			j.fail(RuleAnchor, "message %d stands before the summary", a)
		}
	}
}

// checkOpen: no message of the open round is masked, summarized or dropped.
func (j *judge) checkOpen() {
	for i, open := range j.in.open() {
		if open && j.Decisions[i] != kept && j.Decisions[i] != truncated && !j.alreadyMasked(i) {
			j.fail(RuleOpen, "message %d is %s", i, j.Decisions[i])
		}
		if open && j.place[i] < 0 {
			j.fail(RuleOpen, "message %d is gone", i)
		}
	}
}

// alreadyMasked reports whether message i is a placeholder in the input.
func (j *judge) alreadyMasked(i int) bool {
	for p, part := range j.In[i].Parts {
		if part.Kind == resultKind && j.cameMasked(i, p) {
			return true
		}
	}
	return false
}

// checkKeep: the last turns and pairs are only removed if the budget leaves no
// other way. It judges one step, not the sum of several.
func (j *judge) checkKeep() {
	if j.KeepTurns == 0 || j.Earlier || j.Deeper {
		return
	}
	recent := j.in.recent(j.KeepTurns, j.KeepPairs)
	need := j.Fixed + j.MaxSummaryTokens + summarySlack
	for i := range j.In {
		if recent[i] || j.pinnedRound[i] || j.anchored(i) {
			need += j.costIn[i]
		}
	}
	if need > j.Budget {
		return
	}
	for i := range j.In {
		if recent[i] && j.place[i] < 0 && !ours(j.In[i]) {
			j.fail(RuleKeep, "message %d is recent and gone, although the recent span costs %d of %d", i, need, j.Budget)
		}
	}
}

func (j *judge) anchored(i int) bool {
	return j.in.anchor >= 0 && j.in.round[i] == j.in.round[j.in.anchor]
}

// checkWindow: results that must stay visible are not masked. In an earlier view, the
// round with the last user message of that time may have come after younger pinned
// rounds. The turns of these rounds were older in that view.
func (j *judge) checkWindow() {
	if j.KeepTurns == 0 {
		return
	}
	window := max(j.KeepTurns, j.MaskWindow)
	visible := j.in.recent(window, j.KeepPairs)
	ahead := visible
	if j.Earlier {
		ahead = j.in.recent(window-j.in.spokenTurns(), j.KeepPairs)
	}
	seen := 0
	for i, m := range j.In {
		o := j.place[i]
		for p, part := range m.Parts {
			if part.Kind != resultKind {
				continue
			}
			seen++
			stays := visible[i]
			if j.pinnedRound[i] {
				stays = ahead[i]
			}
			if o < 0 || !stays && seen > j.MaskFirst || len(j.Out[o].Parts) != len(m.Parts) {
				continue
			}
			if is := j.Out[o].Parts[p].Text; is != part.Text && !lostOnlyDetails(part.Text, is) && j.isMasked(i, p, is) {
				j.fail(RuleWindow, "message %d is masked", i)
			}
		}
	}
}
