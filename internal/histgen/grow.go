package histgen

import (
	"math/rand/v2"

	"github.com/agentcompact/compact/message"
)

// Grow returns a history that goes on where h ends, by a few rounds: h itself
// is a prefix of it and is not modified. It may be any history, a real one
// too. Calls that are open at the end of h are answered first, or never.
func Grow(h []message.Message, rng *rand.Rand) []message.Message {
	s := Random(rng)
	s.Rounds = 1 + rng.IntN(8)
	return s.Grow(h, rng)
}

// Grow is like the function, with rounds of this shape. Its preamble is
// ignored.
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

// again is a round whose call takes an id that was answered before.
func (b *builder) again(id string) {
	b.add(message.Assistant("", message.Call(id, pick(b.rng, tools...), arguments(b.rng))))
	b.add(message.ToolResult(id, b.result()))
}

// openCalls returns the ids that the last assistant message still waits for,
// and those of which no call waits anywhere. A result that came for an id that
// is not waited for here would belong to a round long ago.
func openCalls(h []message.Message) (waiting, free []string) {
	count := map[string]int{}
	var order []string
	last := map[string]int{}
	for i, m := range h {
		for _, p := range m.Parts {
			switch p.Kind {
			case message.KindToolCall:
				if _, known := count[p.CallID]; !known {
					order = append(order, p.CallID)
				}
				count[p.CallID]++
				last[p.CallID] = i
			case message.KindToolResult:
				count[p.CallID] = max(count[p.CallID]-1, 0)
			}
		}
	}
	at := len(h) - 1
	for at >= 0 && h[at].Role != message.RoleAssistant {
		at--
	}
	for _, id := range order {
		switch {
		case id == "":
		case count[id] == 0:
			free = append(free, id)
		case last[id] == at:
			for range count[id] {
				waiting = append(waiting, id)
			}
		}
	}
	return waiting, free
}
