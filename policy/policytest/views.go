package policytest

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Words is a coster that counts one token per word and two per message, which
// makes costs easy to predict.
type Words struct{}

// Text returns the number of words in a text.
func (Words) Text(s string) int { return len(strings.Fields(s)) }

// Message returns the number of words in the parts of a message, plus 2.
func (w Words) Message(m message.Message) int {
	n := 2
	for _, p := range m.Parts {
		n += w.Text(p.Text) + w.Text(p.Name) + w.Text(string(p.Args))
	}
	return n
}

// views returns the conversations as views, each with a budget that it exceeds.
func views() iter.Seq2[string, *policy.View] {
	all := conversations()
	return func(yield func(string, *policy.View) bool) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			v := policy.NewView(all[name], Pins, Words{})
			limit := v.Total() / 2
			v.Budget = policy.Budget{Max: limit, Cap: limit, Trigger: limit * 85 / 100, Target: limit * 60 / 100}
			v.Keep, v.Goal = policy.Keep{Turns: 3, Pairs: 2}, v.Budget.Target
			if !yield(name, v) {
				return
			}
		}
	}
}

// conversations returns histories with the shapes that agents send.
func conversations() map[string][]message.Message {
	all := map[string][]message.Message{
		"nothing":         nil,
		"one question":    {message.User("hello")},
		"a loop":          loop(30, 40),
		"talk":            talk(20),
		"an open round":   append(loop(12, 30), message.Assistant("", message.Call("open", "bash", `{}`))),
		"orphan results":  append([]message.Message{message.ToolResult("gone", words(50))}, loop(12, 30)...),
		"several answers": parallel(10, 4, 30),
		"protected":       protected(loop(20, 30)),
		"a long answer":   append(loop(10, 30), message.Assistant("", message.Call("long", "bash", `{"command":"make all"}`)), message.ToolResult("long", output(400))),
	}
	seeds := 8
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		all[fmt.Sprintf("random %d", seed)] = random(rand.New(rand.NewPCG(uint64(seed), 7)))
	}
	return all
}

func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

// loop returns the history of an agent: a request, then calls and their results, with
// size words in each result.
func loop(rounds, size int) []message.Message {
	msgs := []message.Message{message.System("be good"), message.User("do the task")}
	for i := range rounds {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "bash", fmt.Sprintf(`{"command":"make %d"}`, i))),
			message.ToolResult(id, fmt.Sprintf("run %d: %s", i, words(size))))
	}
	return msgs
}

// output returns text like the output of a build: many similar lines, in colors.
func output(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "\x1b[32mok\x1b[0m compiled package number %d\n", i/50)
	}
	return b.String()
}

func talk(turns int) []message.Message {
	msgs := []message.Message{message.System("be good")}
	for i := range turns {
		msgs = append(msgs, message.User(fmt.Sprintf("question %d %s", i, words(10))), message.Assistant(fmt.Sprintf("answer %d %s", i, words(30))))
	}
	return append(msgs, message.User("and now?"))
}

// parallel returns a loop that makes several calls at once.
func parallel(rounds, calls, size int) []message.Message {
	msgs := []message.Message{message.User("look at all of it")}
	for i := range rounds {
		var parts []message.Part
		var results []message.Message
		for k := range calls {
			id := fmt.Sprintf("call_%d_%d", i, k)
			parts = append(parts, message.Call(id, "read", `{}`))
			results = append(results, message.ToolResult(id, fmt.Sprintf("file %d of %d: %s", k, i, words(size))))
		}
		msgs = append(append(msgs, message.Assistant("", parts...)), results...)
	}
	return msgs
}

func protected(msgs []message.Message) []message.Message {
	for i := 5; i < len(msgs); i += 7 {
		msgs[i].Protected = true
	}
	return msgs
}

// random returns a conversation of random messages of all kinds.
func random(rng *rand.Rand) (msgs []message.Message) {
	for i := range 20 + rng.IntN(40) {
		size := 1 + rng.IntN(80)
		switch rng.IntN(6) {
		case 0:
			msgs = append(msgs, message.User(words(size/4+1)))
		case 1:
			msgs = append(msgs, message.Assistant(words(size)))
		case 2:
			msgs = append(msgs, message.System(words(size/8+1)))
		case 3:
			msgs = append(msgs, message.ToolResult("unknown", words(size)))
		default:
			id := fmt.Sprintf("call_%d", i)
			msgs = append(msgs, message.Assistant("", message.Call(id, "bash", `{}`)), message.ToolResult(id, words(size)))
		}
		msgs[len(msgs)-1].Protected = rng.IntN(15) == 0
	}
	return msgs
}
