package policy

// DefaultTail is the number of last messages that the preset "history-reducer"
// leaves unchanged.
const DefaultTail = 4

// tail marks the rounds that hold the last n messages of the conversation, and
// the open round. It does not count pinned messages and earlier summaries and
// notices.
func (v *View) tail(n int) []bool {
	recent := make([]bool, len(v.Rounds))
	v.markOpen(recent)
	for i := len(v.Messages) - 1; i >= 0 && n > 0; i-- {
		if r := v.round[i]; !v.Pinned[i] && !v.owned(r) {
			recent[r] = true
			n--
		}
	}
	return recent
}

// newest marks the last round, pinned or not, and the open round.
func (v *View) newest() []bool {
	recent := v.tail(0)
	if n := len(recent); n > 0 {
		recent[n-1] = true
	}
	return recent
}

// markOpen marks the open round.
func (v *View) markOpen(recent []bool) {
	for r := len(recent) - 1; r >= 0 && v.Rounds[r].Start >= v.Open; r-- {
		recent[r] = true
	}
}
