package compat

import (
	"slices"

	"github.com/agentcompact/compact/policy"
)

// DefaultTail is the number of last messages that the preset "history-reducer"
// leaves unchanged.
const DefaultTail = 4

// Tail returns a function that marks the rounds that hold the last n messages of
// a conversation, and the open round. It does not count pinned messages and
// earlier summaries and notices. See Recent of [policy.Mask].
func Tail(n int) func(*policy.View) []bool {
	return func(v *policy.View) []bool { return tail(v, n) }
}

func tail(v *policy.View, n int) []bool {
	recent := make([]bool, len(v.Rounds))
	for r := len(recent) - 1; r >= 0 && v.Rounds[r].Start >= v.Open; r-- {
		recent[r] = true
	}
	for i := len(v.Messages) - 1; i >= 0 && n > 0; i-- {
		if !v.Pinned[i] && !v.Owned(i) {
			recent[v.RoundOf(i)] = true
			n--
		}
	}
	return recent
}

func tailOr(n int) int {
	if n == 0 {
		return DefaultTail
	}
	return n
}

// newest marks the last round, pinned or not, and the open round.
func newest(v *policy.View) []bool {
	recent := tail(v, 0)
	if n := len(recent); n > 0 {
		recent[n-1] = true
	}
	return recent
}

// remainder returns the messages that a cut may remove if the marked rounds stay. The
// marked rounds must include the open round. The result includes earlier summaries and
// notices.
func remainder(v *policy.View, recent []bool) (at []int) {
	for _, i := range v.Partition(policy.Keep{}).Remainder { // all messages that any cut may remove
		if v.Owned(i) || !recent[v.RoundOf(i)] {
			at = append(at, i)
		}
	}
	return at
}

// start returns the index at which the recent span after a summary begins: the start of
// the first round that [tail] marks.
func start(v *policy.View, recent []bool) int {
	if r := slices.Index(recent, true); r >= 0 {
		return v.Rounds[r].Start
	}
	return len(v.Messages)
}

func pinnedRound(v *policy.View, r int) bool {
	for i := v.Rounds[r].Start; i < v.Rounds[r].End; i++ {
		if v.Pinned[i] {
			return true
		}
	}
	return false
}
