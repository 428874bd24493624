package ledger

import (
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
)

// Turns have numbers, from 1, that stay the same in all steps of a session, even if an
// SDK passes views back. Turns holds these numbers in a ledger: the numbers of the
// step's history and view, and the chains that recognize the history and the view in
// later calls.
type Turns struct {
	Next    uint32      `json:"next"` // number of the next new turn
	History Numbering   `json:"history"`
	View    Numbering   `json:"view"`
	All     reduce.Link `json:"all"`   // the whole history
	Shown   reduce.Link `json:"shown"` // the whole view
}

// Numbering holds the numbers of a conversation's turns, in order, as runs. A run has a count of
// turns, and the number of its first turn. If that number is 0, the turns of the run have no
// numbers, like a summary.
type Numbering [][2]uint32

// At returns the number of turn i of the conversation, and false beyond its
// end.
func (n Numbering) At(i int) (uint32, bool) {
	left := uint64(i)
	for _, run := range n {
		if left < uint64(run[0]) {
			if run[1] == 0 {
				return 0, true
			}
			return run[1] + uint32(left), true
		}
		left -= uint64(run[0])
	}
	return 0, false
}

// Numbered returns the Numbering of a conversation from the number of each turn, 0
// for none.
func Numbered(numbers []uint32) Numbering {
	out := Numbering{}
	for _, n := range numbers {
		last := len(out) - 1
		if last >= 0 && (out[last][1] == 0 && n == 0 || out[last][1] != 0 && n == out[last][1]+out[last][0]) {
			out[last][0]++
			continue
		}
		out = append(out, [2]uint32{1, n})
	}
	return out
}

// TurnsOf returns the turn of each message. Messages after the last answer are a
// separate turn.
func TurnsOf(msgs []message.Message) (of []int, count int) {
	of = make([]int, len(msgs))
	rounds := message.Rounds(msgs)
	next := 0
	for t, turn := range message.Turns(rounds) {
		for _, r := range rounds[turn.First : turn.Last+1] {
			for i := r.Start; i < r.End; i++ {
				of[i] = t
			}
		}
		next, count = rounds[turn.Last].End, t+1
	}
	if next == len(msgs) {
		return of, count
	}
	for i := next; i < len(msgs); i++ {
		of[i] = count
	}
	return of, count + 1
}
