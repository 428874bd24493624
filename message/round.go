package message

import "sort"

// A Round is the smallest span that can't be cut: an assistant message and
// every result that answers its tool calls. Any other message is a round of its
// own. If results come late, the messages before them belong to the round, too.
// The same is true for late results of tools that the provider runs (see
// [ServerCall]).
type Round struct {
	Start, End int  // the messages [Start, End)
	Assistant  bool // the round has an assistant message
	Pairs      int  // number of tool calls that are answered in it
	Unanswered int  // number of tool calls that are not
}

// Len returns the number of messages.
func (r Round) Len() int { return r.End - r.Start }

// Rounds cuts a conversation into rounds, in order and without gaps, in one pass. A result belongs
// to the newest earlier message that has an unanswered call with its id, so that ids may repeat. If
// there is no such call, the result is a round of its own, with two exceptions. It belongs to the
// round directly before it if that round already answered this id, or if that round begins with an
// assistant message with a part of an unknown kind, which can be a reference to the call. Calls
// without an id are matched by name; a result that has neither id nor name answers the newest
// unanswered call without an id.
func Rounds(msgs []Message) []Round {
	b := rounder{pending: map[string][]int{}, caller: map[string]int{}, msgs: msgs}
	for i := range msgs {
		b.add(i)
	}
	return b.rounds
}

// A Rounder splits a growing conversation into rounds, in time proportional to
// the new messages. The zero value is ready to use. It is not safe for
// concurrent use.
type Rounder struct {
	r rounder
	n int // number of messages that it has read
}

// Rounds returns the same as the function [Rounds]. msgs must begin with the
// messages of the previous call, in which only texts may have changed: Rounds
// does not read them again. If there are fewer messages than before, it reads
// all. The caller owns the slice.
func (b *Rounder) Rounds(msgs []Message) []Round {
	if b.n == 0 || b.n > len(msgs) {
		*b = Rounder{r: rounder{pending: map[string][]int{}, caller: map[string]int{}}}
	}
	for b.r.msgs = msgs; b.n < len(msgs); b.n++ {
		b.r.add(b.n)
	}
	b.r.msgs = nil
	return append([]Round(nil), b.r.rounds...)
}

type rounder struct {
	msgs    []Message
	rounds  []Round
	pending map[string][]int // call id → the messages with an unanswered call of this id, in order
	caller  map[string]int   // call id → the message whose call with this id was answered last
	served  server
	bare    []bareCall // calls without an id, in order; answered calls at the end may not be removed yet
}

// bareCall is a call that has no id.
type bareCall struct {
	key string
	at  int // index of the message
}

func (b *rounder) add(i int) {
	m := &b.msgs[i]
	answers := false
	var seen map[string]bool // results in this message
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind == KindToolResult && (len(m.Parts) == 1 || isNewResult(&seen, p)) {
			answers = b.answer(i, p) || answers
		}
	}
	if !answers {
		b.rounds = append(b.rounds, Round{Start: i, End: i + 1, Assistant: m.Role == RoleAssistant})
	}
	if b.served.continues(m) {
		b.merge(b.served.from, i)
	}
	b.served.add(i, m)
	for k := range m.Parts {
		if p := &m.Parts[k]; p.Kind == KindToolCall {
			id := key(p)
			b.pending[id] = append(b.pending[id], i)
			if p.CallID == "" {
				b.bare = append(b.bare, bareCall{id, i})
			}
			b.rounds[len(b.rounds)-1].Unanswered++
		}
	}
}

// isNewResult reports whether a result is new, and records it: the text of one answer
// may be divided into several parts.
func isNewResult(seen *map[string]bool, p *Part) bool {
	id := key(p)
	if (*seen)[id] {
		return false
	}
	if *seen == nil {
		*seen = map[string]bool{}
	}
	(*seen)[id] = true
	return true
}

// key returns the key by which a call matches its result: the id, or the name on
// wires without ids.
func key(p *Part) string {
	if p.CallID == "" {
		return "\x00" + p.Name
	}
	return p.CallID
}

// newest returns the key of the newest unanswered call without an id.
func (b *rounder) newest() string {
	for n := len(b.bare) - 1; n >= 0; n-- {
		c := b.bare[n]
		if waiting := b.pending[c.key]; len(waiting) > 0 && waiting[len(waiting)-1] == c.at {
			return c.key
		}
		b.bare = b.bare[:n]
	}
	return ""
}

// answer adds message i to the round of the call that result p answers.
func (b *rounder) answer(i int, p *Part) bool {
	id := key(p)
	if p.CallID == "" && p.Name == "" {
		id = b.newest()
	}
	waiting := b.pending[id]
	if len(waiting) == 0 {
		// A second answer to a call belongs to the same round if it directly
		// follows the first.
		call, known := b.caller[id]
		last := len(b.rounds) - 1
		switch {
		case last < 0:
			return false
		case known && b.rounds[last].Start <= call:
		case b.refers(b.rounds[last].Start):
			b.rounds[last].Pairs++
		default:
			return false
		}
		b.rounds[last].End = i + 1
		return true
	}
	call := waiting[len(waiting)-1]
	b.caller[id] = call
	b.pending[id] = waiting[:len(waiting)-1]
	b.absorb(call, i)
	return true
}

// refers reports whether an assistant message has a part of an unknown kind, which can be a
// reference to a call that the provider stores.
func (b *rounder) refers(i int) bool {
	return b.msgs[i].Role == RoleAssistant && b.msgs[i].Has(KindOther)
}

// absorb extends the round of message call up to message i, which answers it, including all
// rounds between.
func (b *rounder) absorb(call, i int) {
	r := b.merge(call, i)
	r.Pairs++
	r.Unanswered--
}

// merge extends the round of message first up to message i, including all rounds between.
func (b *rounder) merge(first, i int) *Round {
	at := sort.Search(len(b.rounds), func(k int) bool { return b.rounds[k].End > first })
	r := &b.rounds[at]
	for _, other := range b.rounds[at+1:] {
		r.Pairs += other.Pairs
		r.Unanswered += other.Unanswered
		r.Assistant = r.Assistant || other.Assistant
	}
	b.rounds = b.rounds[:at+1]
	r.End = i + 1
	return r
}

// A Turn is the user messages (zero or more) and the assistant round that
// answers them. In an agent loop each action with its observations is a turn.
type Turn struct {
	First, Last int // indices of rounds, both included
}

// Turns groups rounds into turns. Rounds after the last assistant round (a user
// message that waits for its answer) are in no turn.
func Turns(rounds []Round) []Turn {
	var turns []Turn
	first := 0
	for i, r := range rounds {
		if r.Assistant {
			turns = append(turns, Turn{first, i})
			first = i + 1
		}
	}
	return turns
}

// Open returns the index of the message at which the open round begins. If not
// all calls of the last assistant round are answered, the open round is that
// round with everything after it. Otherwise it is the messages after that
// round, which no assistant has answered. Without such messages, Open returns
// the number of messages.
func Open(rounds []Round) int {
	open := 0
	if len(rounds) > 0 {
		open = rounds[len(rounds)-1].End
	}
	for i := len(rounds) - 1; i >= 0; i-- {
		r := rounds[i]
		if r.Assistant {
			if r.Unanswered > 0 {
				return r.Start
			}
			return open
		}
		open = r.Start
	}
	return open
}

// Anchor returns the index of the last user message, or -1.
func Anchor(msgs []Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].IsUser() {
			return i
		}
	}
	return -1
}
