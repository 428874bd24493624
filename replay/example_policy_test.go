package replay_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/replay"
)

// heads is a policy of another module: it sends the first bytes of each tool result.
type heads int

func (heads) Name() string    { return "heads" }
func (heads) Reference() bool { return true }

func (h heads) Begin(context.Context, *replay.Session, replay.Env) (replay.Runner, error) {
	return h, nil
}

func (heads) Close(context.Context) error { return nil }

// View is asked call after call. Another program, or a library, could be asked here with
// the bytes of the messages (message.Message.Raw).
func (h heads) View(_ context.Context, history []message.Message) (replay.View, error) {
	v := replay.View{Messages: slices.Clone(history), Sources: make([]int, len(history))}
	for i, m := range history {
		v.Sources[i] = i
		if text := m.ResultText(); len(text) > int(h) {
			cut, err := m.WithPartText(0, text[:h])
			if err != nil {
				return replay.View{}, err
			}
			v.Messages[i] = cut
		}
	}
	return v, nil
}

// A policy that is not a preset is measured beside the presets, on the same sessions
// and prices.
func ExamplePolicy() {
	long := strings.Repeat("one more line of a listing; ", 400) + "and token_budget.go at its end"
	s, err := replay.Parse("session.jsonl", fmt.Appendf(nil, `{"role":"user","content":"list the files"}
{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"1","content":%q}
{"role":"assistant","content":"I open token_budget.go next."}
`, long), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := replay.Run(context.Background(), replay.Of(s), replay.Options{Policies: []replay.Policy{replay.Raw(), heads(200)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range report.Totals {
		fmt.Printf("%-5s needed at use %.0f %%, cheaper than everything: %v\n", t.Policy, 100*t.Held.Value, t.OfRaw.Value < 1)
	}
	// Output:
	// raw   needed at use 100 %, cheaper than everything: false
	// heads needed at use 0 %, cheaper than everything: true
}
