package policy_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// wordCost costs one token per word.
type wordCost struct{}

func (wordCost) Text(s string) int { return len(strings.Fields(s)) }
func (wordCost) Message(m message.Message) (n int) {
	for _, p := range m.Parts {
		n += len(strings.Fields(p.Text))
	}
	return n
}

// An engine asks its stages for edits and applies the shortest run of them that
// reaches the target.
func Example() {
	history := []message.Message{message.User("Wait for the build.")}
	for i := range 8 {
		id := fmt.Sprint(i)
		history = append(history, message.Assistant("", message.Call(id, "status", "{}")), message.ToolResult(id, strings.Repeat("still running ", 40)))
	}
	e := &reduce.Engine{
		Steps: []reduce.Step{{Stage: policy.Mask{WindowTurns: 2}}, {Stage: policy.Drop{}}},
		Keep:  policy.Keep{Turns: 2, Pairs: 2}, Cost: wordCost{},
	}
	out, err := e.Run(context.Background(), reduce.Request{
		Conversation: reduce.NewConversation(history, nil, nil),
		Budget:       policy.Budget{Max: 500, Cap: 500, Trigger: 425, Target: 300},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range out.Passes {
		fmt.Printf("%s: %d edits, %d tokens before, %d after\n", p.Stage, len(p.Edits), p.Before, p.After)
	}
	fmt.Println(out.Conversation.Messages()[2].ResultText())
	// Output:
	// mask: 6 edits, 644 tokens before, 194 after
	// [observation masked — 560 chars]
}
