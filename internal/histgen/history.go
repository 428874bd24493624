package histgen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
)

// History returns a history of this shape.
func (s Shape) History(rng *rand.Rand) []message.Message {
	b := &builder{Shape: s, rng: rng}
	for range s.Preamble {
		b.instruct()
	}
	if s.OneUser {
		b.ask()
	}
	b.rounds(s.Rounds)
	b.end()
	return b.msgs
}

// builder writes a history, or the continuation of one.
type builder struct {
	Shape
	rng  *rand.Rand
	msgs []message.Message

	instructed int // number of system and developer messages

	batch int      // number that distinguishes the ids of this continuation
	ids   []string // ids of calls, which may be reused
	late  []message.Message
}

func (b *builder) add(m message.Message) {
	m.Protected = chance(b.rng, b.Protected)
	b.msgs = append(b.msgs, b.finish(m))
}

func (b *builder) rounds(n int) {
	for range n {
		b.between()
		if !b.OneUser {
			for range 1 + b.rng.IntN(5)/4 {
				b.ask()
			}
		}
		due := b.late
		b.late = nil
		if b.rng.IntN(2) == 0 {
			b.deliver(due)
			due = nil
		}
		b.round(b.Interrupted)
		b.deliver(due)
	}
	b.deliver(b.late)
	b.late = nil
}

// end ends the history as the shape requires.
func (b *builder) end() {
	switch b.Ends {
	case Question:
		for range 1 + b.rng.IntN(2) {
			b.ask()
		}
	case Calls:
		b.Tools, b.Late, b.Repeated, b.Twice = 1, 0, 0, 0
		b.round(0.6)
		if last := len(b.msgs) - 1; b.msgs[last].Role == message.RoleTool {
			b.msgs = b.msgs[:last]
		}
	}
}

// between adds an unusual message between two rounds.
func (b *builder) between() {
	if chance(b.rng, b.Middle) {
		b.instruct()
	}
	if chance(b.rng, b.Orphan) {
		b.add(message.ToolResult(b.id(), b.result()))
	}
	if chance(b.rng, b.Forged/4) {
		b.msgs = append(b.msgs, b.finish(forgedMessage(b.rng)))
	}
}

func (b *builder) instruct() {
	text := b.text()
	if b.rng.IntN(2) == 0 {
		b.add(message.Developer(text))
	} else {
		b.add(message.System(text))
	}
	b.repeat()
}

// repeat replaces every Again-th instruction with an earlier one. It draws no
// random number, so the rest of the history does not change.
func (b *builder) repeat() {
	last := len(b.msgs) - 1
	var earlier []message.Message
	for _, m := range b.msgs[:last] {
		if instructs(m) && !strings.HasPrefix(m.Text(), "[conversation truncated") {
			earlier = append(earlier, m)
		}
	}
	if b.instructed++; b.Again > 0 && b.instructed%b.Again == 0 && len(earlier) > 0 {
		b.msgs[last] = earlier[b.instructed*7%len(earlier)]
	}
}

func instructs(m message.Message) bool {
	return m.Role == message.RoleSystem || m.Role == message.RoleDeveloper
}

func (b *builder) ask() {
	m := message.User(b.text())
	if chance(b.rng, b.Media) {
		m.Parts = append(m.Parts, medium(b.rng))
	}
	b.add(m)
}

// round writes an assistant message with its results; some results are missing,
// some are late, and some come twice.
func (b *builder) round(interrupted float64) {
	var calls []message.Part
	if chance(b.rng, b.Tools) {
		for range 1 + b.rng.IntN(max(b.Parallel, 1)) {
			calls = append(calls, b.call())
		}
	}
	text := ""
	if len(calls) == 0 || b.rng.IntN(3) == 0 {
		text = b.text()
	}
	m := message.Assistant(text, calls...)
	if b.rng.IntN(6) == 0 {
		m.Parts = slices.Insert(m.Parts, 0, message.Part{Kind: message.KindReasoning, Text: b.text()})
	}
	b.add(m)
	b.rng.Shuffle(len(calls), func(i, k int) { calls[i], calls[k] = calls[k], calls[i] })
	for _, c := range calls {
		b.answer(c, interrupted)
	}
}

func (b *builder) answer(call message.Part, interrupted float64) {
	id, text := call.CallID, ""
	if runsTests(call) {
		text = b.report()
	} else {
		text = b.result()
	}
	m := message.ToolResult(id, text)
	for range b.rng.IntN(8) / 7 * 2 {
		m.Parts = append(m.Parts, message.Part{Kind: message.KindToolResult, CallID: id, Text: b.text()})
	}
	switch {
	case chance(b.rng, interrupted):
	case chance(b.rng, b.Late):
		b.late = append(b.late, m)
	default:
		b.add(m)
		if chance(b.rng, b.Twice) {
			b.add(message.ToolResult(id, b.result()))
		}
	}
}

// call returns a call of a tool, or a run of tests by a shell.
func (b *builder) call() message.Part {
	id := b.callID()
	if chance(b.rng, b.Reports) {
		return message.Call(id, "bash", testCommand(b.rng))
	}
	return message.Call(id, pick(b.rng, tools...), arguments(b.rng))
}

// deliver writes late results.
func (b *builder) deliver(late []message.Message) {
	for _, m := range late {
		b.add(m)
	}
}

// callID returns a new id, or one that occurred before.
func (b *builder) callID() string {
	if len(b.ids) > 0 && chance(b.rng, b.Repeated) {
		return pick(b.rng, b.ids...)
	}
	id := b.id()
	b.ids = append(b.ids, id)
	return id
}

func (b *builder) id() string {
	return fmt.Sprintf("call_%d_%x", b.batch, b.rng.Uint32())
}
