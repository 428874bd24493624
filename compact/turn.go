package compact

import (
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// numbered is a history with the numbers of its turns.
type numbered struct {
	of      []int    // turn of each message
	numbers []uint32 // number of each turn
	fresh   int      // index of the first message that no step has seen
	next    uint32
	all     reduce.Link
}

// turn returns the number of the turn of message i, 0 for none.
func (n *numbered) turn(i int) uint32 { return n.numbers[n.of[i]] }

// number numbers the turns of a history: with the numbers from the newest step
// that the history continues, and new ones after it.
func (s *session) number(history []message.Message, of ledger.Owner, pins policy.Pins) *numbered {
	trail := reduce.NewTrail(history, pins, nil, nil)
	n := &numbered{next: 1, all: trail.Whole()}
	known, seen := s.numberedBefore(trail, of, &n.next)
	n.fresh = indexOf(history, seen, pins)
	var count int
	n.of, count = ledger.TurnsOf(history)
	n.numbers = make([]uint32, count)
	for t := range n.numbers {
		number, ok := known.At(t)
		if !ok {
			number = n.next
			n.next++
		}
		n.numbers[t] = number
	}
	return n
}

// numberedBefore returns the turn numbers that steps gave to the beginning of a
// history, and how many of its unpinned messages steps have seen. It raises next to
// the first free number.
func (s *session) numberedBefore(trail *reduce.Trail, of ledger.Owner, next *uint32) (known ledger.Numbering, seen int) {
	steps := s.snapshot()
	for i := len(steps) - 1; i >= 0; i-- {
		t := steps[i].Turns
		if t == nil {
			continue
		}
		*next = max(*next, t.Next)
		if known != nil || steps[i].Owner() != of {
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

// seenBeyond returns the index of the first message that no step has seen. If no step
// has seen the message at index from, it returns from. It compares only counts, unless a
// step has seen more unpinned messages than the history has before from.
func (s *session) seenBeyond(from int, history []message.Message, of ledger.Owner, pins policy.Pins) int {
	before := unpinned(history[:from], pins)
	all := before + unpinned(history[from:], pins)
	var trail *reduce.Trail
	steps := s.snapshot()
	for i := len(steps) - 1; i >= 0; i-- {
		t := steps[i].Turns
		if t == nil || steps[i].Owner() != of {
			continue
		}
		for _, seen := range []reduce.Link{t.All, t.Shown} {
			if seen.N <= before || seen.N > all {
				continue
			}
			if trail == nil {
				trail = reduce.NewTrail(history, pins, nil, nil)
			}
			if trail.Has(seen) {
				return indexOf(history, seen.N, pins)
			}
		}
	}
	return from
}

func unpinned(msgs []message.Message, pins policy.Pins) (n int) {
	for i := range msgs {
		if !pins.Pinned(&msgs[i]) {
			n++
		}
	}
	return n
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

// viewed returns the turn numbers of a view: the number of each turn's answer, or of
// its last message if it has no answer yet.
func (n *numbered) viewed(c *reduce.Conversation) ledger.Numbering {
	msgs := c.Messages()
	of, count := ledger.TurnsOf(msgs)
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
	return ledger.Numbered(numbers)
}

// ledger returns the numbers for a ledger. chain is the chain of the view.
func (n *numbered) ledger(view *reduce.Conversation, chain *reduce.Chain) *ledger.Turns {
	return &ledger.Turns{Next: n.next, History: ledger.Numbered(n.numbers), View: n.viewed(view), All: n.all, Shown: chain.At(view, view.Len())}
}

// lastNumber returns the highest number by which a summary of a lane cites a
// message, 0 if there is none.
func (s *session) lastNumber(of ledger.Owner) int {
	last := 0
	for _, step := range s.snapshot() {
		if step.Owner() == of {
			last = max(last, step.Numbers)
		}
	}
	return last
}
