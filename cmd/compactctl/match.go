package main

import (
	"slices"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// matched says for each message of the history where it is in the view, and
// for each message of the view where it comes from; -1 is nowhere.
type matched struct{ in, out []int }

// match finds the messages of a history in the view that became of it. What
// was kept is the same in both; what was edited has the same role and answers
// the same calls, and stands in the same order.
func match(history []message.Message, res *compact.Result) matched {
	m := matched{in: fill(len(history), -1), out: fill(len(res.Messages), -1)}
	places := map[message.Fingerprint][]int{}
	for k, msg := range res.Messages {
		places[msg.Fingerprint()] = append(places[msg.Fingerprint()], k)
	}
	for i, d := range res.Decisions {
		if fp := history[i].Fingerprint(); d.Decision == policy.Kept && len(places[fp]) > 0 {
			m.pair(i, places[fp][0])
			places[fp] = places[fp][1:]
		}
	}
	next := 0
	for i, d := range res.Decisions {
		if d.Decision != policy.Masked && d.Decision != policy.Truncated {
			continue
		}
		k := next
		for k < len(m.out) && (m.out[k] >= 0 || !editOf(history[i], res.Messages[k])) {
			k++
		}
		if k < len(m.out) {
			m.pair(i, k)
			next = k + 1
		}
	}
	return m
}

func (m matched) pair(i, k int) { m.in[i], m.out[k] = k, i }

func editOf(before, after message.Message) bool {
	return before.Role == after.Role && slices.EqualFunc(before.Parts, after.Parts, func(a, b message.Part) bool {
		return a.Kind == b.Kind && a.CallID == b.CallID
	})
}

func fill(n, v int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = v
	}
	return s
}
