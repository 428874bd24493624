package policy

// A Partition says what a cut may take. All are indices of messages, in order.
type Partition struct {
	Pinned    []int // whole rounds with a pinned part
	Recent    []int // the last turns, the last tool pairs, the open round
	Remainder []int // what may be summarized or dropped; whole rounds, an earlier summary included
	Anchor    int   // the last user message, -1 = none
	Start     int   // where the recent span begins; len(messages) when there is none
}

// Partition sorts the rounds of the view by what may become of them when keep
// is kept. It is one pass.
func (v *View) Partition(keep Keep) Partition { return v.split(v.recentRounds(keep)) }

// A Lot is what a cut may do with a round.
type Lot uint8

// The lots of rounds, as a [Partition] has them.
const (
	LotRemainder Lot = iota
	LotPinned
	LotRecent
)

// Lots returns the lot of each round of the view when keep is kept: what
// [View.Partition] says, without the lists.
func (v *View) Lots(keep Keep) []Lot {
	lots, _ := v.lots(v.recentRounds(keep))
	return lots
}

// lots sorts the rounds, given which of them are recent, and says where the
// recent span begins.
func (v *View) lots(recent []bool) (lots []Lot, start int) {
	lots, start = make([]Lot, len(v.Rounds)), len(v.Messages)
	front := true // only pinned rounds stand before this one: a summary comes behind them
	for r := range v.Rounds {
		ours, pinned := v.owned(r), v.pinnedRound(r)
		front = front && pinned
		if recent[r] && !ours && !front {
			start = min(start, v.Rounds[r].Start)
		}
		switch {
		case pinned:
			lots[r] = LotPinned
		case recent[r] && !ours, v.holdsAnchor(r):
			lots[r] = LotRecent
		}
	}
	return lots, start
}

// split lists the messages of the rounds by their lot.
func (v *View) split(recent []bool) Partition {
	lots, start := v.lots(recent)
	var sizes [LotRecent + 1]int
	for r, lot := range lots {
		sizes[lot] += v.Rounds[r].Len()
	}
	var lists [len(sizes)][]int
	for lot, n := range sizes {
		if n > 0 {
			lists[lot] = make([]int, 0, n)
		}
	}
	for r, lot := range lots {
		for i := v.Rounds[r].Start; i < v.Rounds[r].End; i++ {
			lists[lot] = append(lists[lot], i)
		}
	}
	return Partition{Pinned: lists[LotPinned], Recent: lists[LotRecent], Remainder: lists[LotRemainder], Anchor: v.Anchor, Start: start}
}

// owned reports whether round r is a summary or a notice of our own. What only
// has the form of one, inside of a round, in the open one or as the last user message,
// is not.
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

// Owned reports whether message i is a summary or a notice of our own, and not
// only has the form of one.
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

// recentRounds marks the rounds of the last keep.Turns turns, those that hold
// the last keep.Pairs tool pairs, and the open round.
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
	v.markOpen(recent)
	return recent
}

// kept returns what the view costs when the remainder under keep is gone and
// nothing stands for it.
func (v *View) kept(keep Keep) int {
	n := v.Total()
	for r, lot := range v.Lots(keep) {
		if lot == LotRemainder {
			n -= v.roundCost(r)
		}
	}
	return n
}

// Shrink returns the largest keep counts, from v.Keep down to 1 and 1, with
// which the view and reserve more tokens fit the budget, or, in a session that
// grows by more than lies between target and trigger, leave room for another
// call (see [Budget.Deeper]): turns by one, then
// pairs by one, in turn, without the decrements that free nothing. When
// nothing fits it returns the smallest.
func (v *View) Shrink(reserve int) Keep {
	keep, size := v.Keep, v.kept(v.Keep)
	turns, room := true, v.Budget.Cap
	if v.Budget.shrinkTo > 0 {
		room = min(room, v.Budget.shrinkTo)
	}
	if size+reserve > room {
		room += v.cost(v.spare()) // which go before a turn does
	}
	for !v.Rigid && size+reserve > room && (keep.Turns > 1 || keep.Pairs > 1) {
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

// relax takes back the decrements that freed nothing.
func (v *View) relax(keep Keep, size int) Keep {
	for keep.Turns < v.Keep.Turns && v.kept(Keep{keep.Turns + 1, keep.Pairs}) == size {
		keep.Turns++
	}
	for keep.Pairs < v.Keep.Pairs && v.kept(Keep{keep.Turns, keep.Pairs + 1}) == size {
		keep.Pairs++
	}
	return keep
}
