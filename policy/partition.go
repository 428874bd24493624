package policy

// A Partition says which messages a cut may remove. The lists hold indexes of messages
// in ascending order.
type Partition struct {
	Pinned    []int // rounds that hold a pinned message
	Recent    []int // the last turns, the last tool pairs, the open round
	Remainder []int // rounds that may be summarized or dropped; includes earlier summaries
	Anchor    int   // the last user message, -1 = none
	Start     int   // start of the recent span; len(messages) if there is none
}

// Partition divides the rounds of the view into rounds that keep protects and rounds
// that a cut may remove. It takes one pass.
func (v *View) Partition(keep Keep) Partition { return v.split(v.recentRounds(keep)) }

// A partitionList says to which list of a [Partition] a round belongs.
type partitionList uint8

// The lists of a [Partition].
const (
	inRemainder partitionList = iota
	inPinned
	inRecent
)

// listsByRound returns the list of each round and the start of the recent span. recent marks
// the recent rounds.
func (v *View) listsByRound(recent []bool) (byRound []partitionList, start int) {
	byRound, start = make([]partitionList, len(v.Rounds)), len(v.Messages)
	front := true // only pinned rounds come before this round; a summary comes after them
	for r := range v.Rounds {
		ours, pinned := v.owned(r), v.pinnedRound(r)
		front = front && pinned
		if recent[r] && !ours && !front {
			start = min(start, v.Rounds[r].Start)
		}
		switch {
		case pinned:
			byRound[r] = inPinned
		case recent[r] && !ours, v.holdsAnchor(r):
			byRound[r] = inRecent
		}
	}
	return byRound, start
}

// split divides the messages of the rounds into the lists.
func (v *View) split(recent []bool) Partition {
	byRound, start := v.listsByRound(recent)
	var sizes [inRecent + 1]int
	for r, list := range byRound {
		sizes[list] += v.Rounds[r].Len()
	}
	var lists [len(sizes)][]int
	for list, n := range sizes {
		if n > 0 {
			lists[list] = make([]int, 0, n)
		}
	}
	for r, list := range byRound {
		for i := v.Rounds[r].Start; i < v.Rounds[r].End; i++ {
			lists[list] = append(lists[list], i)
		}
	}
	return Partition{Pinned: lists[inPinned], Recent: lists[inRecent], Remainder: lists[inRemainder], Anchor: v.Anchor, Start: start}
}

// owned reports whether round r is a summary or notice made by a stage. A text
// of that form does not count inside a larger round, in the open round, or as the last user
// message.
func (v *View) owned(r int) bool {
	span := v.Rounds[r]
	if span.Len() != 1 || v.holdsAnchor(r) || span.Start >= v.Open {
		return false
	}
	m := v.Messages[span.Start]
	if IsSummary(m) {
		return true
	}
	_, notice := ParseNotice(m)
	return notice
}

// Owned reports whether message i is a summary or notice made by a stage, judged by its
// form. A text of that form does not count inside a larger round, in the open round, or as
// the last user message.
func (v *View) Owned(i int) bool { return v.owned(v.round[i]) }

func (v *View) holdsAnchor(r int) bool {
	return v.Anchor >= 0 && v.round[v.Anchor] == r
}

func (v *View) pinnedRound(r int) bool {
	for i := v.Rounds[r].Start; i < v.Rounds[r].End; i++ {
		if v.Pinned[i] {
			return true
		}
	}
	return false
}

// recentRounds marks the rounds of the last keep.Turns turns, the rounds that hold the
// last keep.Pairs tool pairs, and the open round.
func (v *View) recentRounds(keep Keep) []bool {
	recent := make([]bool, len(v.Rounds))
	if first := len(v.Turns) - keep.Turns; first < len(v.Turns) && len(v.Turns) > 0 {
		for r := v.Turns[max(first, 0)].First; r < len(recent); r++ {
			recent[r] = true
		}
	}
	pairs := keep.Pairs
	for r := len(v.Rounds) - 1; r >= 0 && pairs > 0; r-- {
		if v.Rounds[r].Pairs > 0 {
			recent[r] = true
			pairs -= v.Rounds[r].Pairs
		}
	}
	for r := len(recent) - 1; r >= 0 && v.Rounds[r].Start >= v.Open; r-- {
		recent[r] = true
	}
	return recent
}

// kept returns the cost of the view without the remainder under keep and
// without a summary for it.
func (v *View) kept(keep Keep) int {
	n := v.Total()
	byRound, _ := v.listsByRound(v.recentRounds(keep))
	for r, list := range byRound {
		if list == inRemainder {
			n -= v.roundCost(r)
		}
	}
	return n
}

// Shrink returns the largest keep counts, from v.Keep down to 1 and 1, with
// which the view plus reserve tokens fits the budget. In a session that grows
// by more than the distance between target and trigger, it also leaves room for
// another call (see [Budget.Deeper]). Shrink lowers turns and pairs alternately by one,
// and then reverts decrements that free nothing. If no counts fit, it returns the
// smallest ones.
func (v *View) Shrink(reserve int) Keep {
	keep, size := v.Keep, v.kept(v.Keep)
	turns, room := true, v.Budget.Cap
	if v.Budget.shrinkTo > 0 {
		room = min(room, v.Budget.shrinkTo)
	}
	for !v.Rigid && v.exceeds(keep, size+reserve, room) && (keep.Turns > 1 || keep.Pairs > 1) {
		next := keep
		if turns && keep.Turns > 1 || keep.Pairs <= 1 {
			next.Turns--
		} else {
			next.Pairs--
		}
		turns = !turns
		keep, size = next, v.kept(next)
	}
	return v.relax(keep, size)
}

// exceeds reports whether the view exceeds room. size is its cost under keep. Removable
// copies do not count, because they are removed before any turn.
func (v *View) exceeds(keep Keep, size, room int) bool {
	if size <= room {
		return false
	}
	gone := make([]bool, len(v.Messages))
	byRound, _ := v.listsByRound(v.recentRounds(keep))
	for r, list := range byRound {
		for i := v.Rounds[r].Start; i < v.Rounds[r].End && list == inRemainder; i++ {
			gone[i] = true
		}
	}
	return size > room+v.cost(v.spareBeside(gone))
}

// relax reverts the decrements that freed nothing.
func (v *View) relax(keep Keep, size int) Keep {
	for keep.Turns < v.Keep.Turns && v.kept(Keep{keep.Turns + 1, keep.Pairs}) == size {
		keep.Turns++
	}
	for keep.Pairs < v.Keep.Pairs && v.kept(Keep{keep.Turns, keep.Pairs + 1}) == size {
		keep.Pairs++
	}
	return keep
}

func (v *View) roundCost(r int) int {
	n := 0
	for i := v.Rounds[r].Start; i < v.Rounds[r].End; i++ {
		n += v.Tokens[i]
	}
	return n
}
