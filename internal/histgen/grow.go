package histgen

import (
	"math/rand/v2"

	"github.com/agentcompact/compact/message"
)

// Grow returns h with a few more rounds. It does not modify h, which may be any
// history, including a real one. Open calls at the end of h are answered first,
// or never.
func Grow(h []message.Message, rng *rand.Rand) []message.Message {
	s := Random(rng)
	s.Rounds = 1 + rng.IntN(8)
	return s.Grow(h, rng)
}

// Grow is like the function Grow, with rounds of this shape. It ignores the
// shape's preamble.
func (s Shape) Grow(h []message.Message, rng *rand.Rand) []message.Message {
	b := &builder{Shape: s, rng: rng, batch: len(h), msgs: append([]message.Message(nil), h...)}
	waiting, free := openCalls(h)
	if !chance(rng, 0.2) {
		for _, id := range waiting {
			b.add(message.ToolResult(id, b.result()))
		}
	}
	if len(free) > 0 && chance(rng, s.Repeated) {
		b.again(pick(rng, free...))
	}
	if s.OneUser && len(h) == 0 {
		b.ask()
	}
	b.rounds(s.Rounds)
	b.end()
	return b.msgs
}

// again is a round whose call reuses an id that was answered before.
func (b *builder) again(id string) {
	b.add(message.Assistant("", message.Call(id, pick(b.rng, tools...), arguments(b.rng))))
	b.add(message.ToolResult(id, b.result()))
}

// openCalls returns the ids of the calls of the last assistant message that have no
// result yet, and the ids for which no call waits. A result for any other id would
// belong to an old round.
func openCalls(h []message.Message) (waiting, free []string) {
	last := len(h) - 1
	for last >= 0 && h[last].Role != message.RoleAssistant {
		last--
	}
	open := map[string]int{}
	newest := map[string]int{} // calls of the last assistant message
	var ids []string
	for i, m := range h {
		for k, p := range m.Parts {
			switch {
			case p.Kind == message.KindToolCall:
				if _, known := open[p.CallID]; !known {
					ids = append(ids, p.CallID)
				}
				open[p.CallID]++
				if i == last {
					newest[p.CallID]++
				}
			case p.Kind == message.KindToolResult && (k == 0 || m.Role != message.RoleTool):
				open[p.CallID] = max(open[p.CallID]-1, 0)
				newest[p.CallID] = max(newest[p.CallID]-1, 0)
			}
		}
	}
	for _, id := range ids {
		for range newest[id] {
			waiting = append(waiting, id)
		}
		if open[id] == 0 && id != "" {
			free = append(free, id)
		}
	}
	return waiting, free
}
