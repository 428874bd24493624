package compact

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Turns have numbers, from 1, that stay the same in all steps of a session,
// whatever an SDK does with the views. turnNumbers holds them in a ledger: the
// numbers of the step's history and view, and the chains by which either is
// recognized when it comes in again.
type turnNumbers struct {
	Next    uint32      `json:"next"` // number of the next new turn
	History numbering   `json:"history"`
	View    numbering   `json:"view"`
	All     policy.Link `json:"all"`   // the whole history
	Shown   policy.Link `json:"shown"` // the whole view
}

// numbering holds the numbers of a conversation's turns, in order, as runs: the
// number of turns, and the number of the first one. A run that begins with 0
// has turns without numbers, such as a summary.
type numbering [][2]uint32

// at returns the number of turn i of the conversation, and false beyond its
// end.
func (n numbering) at(i int) (uint32, bool) {
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

func runsOf(numbers []uint32) numbering {
	out := numbering{}
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

// turnsOf returns the turn of each message. Messages after the last answer are
// a turn of their own.
func turnsOf(msgs []message.Message) (of []int, count int) {
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

// numbered is a history with the numbers of its turns.
type numbered struct {
	of      []int    // message → turn
	numbers []uint32 // turn → number
	fresh   int      // index of the first message that no step has seen
	next    uint32
	all     policy.Link
}

// turn returns the number of the turn of message i, 0 for none.
func (n *numbered) turn(i int) uint32 { return n.numbers[n.of[i]] }

// number numbers the turns of a history: with the numbers from the newest step
// that the history continues, and new ones after it.
func (s *session) number(history []message.Message, of owner, pins policy.Pins) *numbered {
	trail := policy.NewTrail(history, pins, nil, nil)
	n := &numbered{next: 1, all: trail.Whole()}
	known, seen := s.numberedBefore(trail, of, &n.next)
	n.fresh = indexOf(history, seen, pins)
	var count int
	n.of, count = turnsOf(history)
	n.numbers = make([]uint32, count)
	for t := range n.numbers {
		number, ok := known.at(t)
		if !ok {
			number = n.next
			n.next++
		}
		n.numbers[t] = number
	}
	return n
}

// numberedBefore returns the existing numbers of the beginning of a history,
// and how many of its unpinned messages steps have seen. It raises next to the
// first free number.
func (s *session) numberedBefore(trail *policy.Trail, of owner, next *uint32) (known numbering, seen int) {
	steps := s.snapshot()
	for i := len(steps) - 1; i >= 0; i-- {
		t := steps[i].Turns
		if t == nil {
			continue
		}
		*next = max(*next, t.Next)
		if known != nil || steps[i].owner() != of {
			continue
		}
		switch {
		case trail.Has(t.All):
			known, seen = t.History, t.All.N
		case trail.Has(t.Shown):
			known, seen = t.View, t.Shown.N
		}
	}
	return known, seen
}

// indexOf returns the index after the first n unpinned messages.
func indexOf(history []message.Message, n int, pins policy.Pins) int {
	for i := range history {
		if n == 0 {
			return i
		}
		if !pins.Pinned(&history[i]) {
			n--
		}
	}
	return len(history)
}

// viewed returns the numbers of the turns of a view: the number of each turn's
// answer, or of its last message if it has no answer yet.
func (n *numbered) viewed(c *policy.Conversation) numbering {
	msgs := c.Messages()
	of, count := turnsOf(msgs)
	numbers, answered := make([]uint32, count), make([]bool, count)
	for i := range msgs {
		t, answer := of[i], msgs[i].Role == message.RoleAssistant
		if answered[t] && !answer {
			continue
		}
		numbers[t], answered[t] = 0, answer
		if src := c.Source(i); src >= 0 {
			numbers[t] = n.turn(src)
		}
	}
	return runsOf(numbers)
}

// ledger returns the numbers for a ledger. chain is the chain of the view.
func (n *numbered) ledger(view *policy.Conversation, chain *policy.Chain) *turnNumbers {
	return &turnNumbers{Next: n.next, History: runsOf(n.numbers), View: n.viewed(view), All: n.all, Shown: chain.At(view, view.Len())}
}
