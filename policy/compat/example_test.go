package compat_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/token"
)

// The preset "history-reducer" counts in UTF-16 units and writes its summary
// without a model.
func ExampleLocalSummary() {
	history := []message.Message{message.User("Rename the flag."), message.Assistant(strings.Repeat("thinking ", 80)), message.User("And the docs?"), message.Assistant("Next.")}
	e := &reduce.Engine{
		Steps: []reduce.Step{{Goal: policy.ToBudget, Stage: compat.LocalSummary{Messages: 2, MaxChars: 300}}},
		Cost:  token.NewCharsEstimator(),
	}
	out, err := e.Run(context.Background(), reduce.Request{
		Conversation: reduce.NewConversation(history, nil, nil), Budget: policy.Budget{Max: 400, Cap: 400}.CapOnly(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Conversation.Messages()[0].Text())
	// Output:
	// <COMPACT-SUMMARY v1>
	// Conversation summary (contract):
	// - Objective: Rename the flag.
	// - Unresolved tasks: None captured.
	// - Key tool outcomes: No tool outcomes captured.
	// - Current constraints: No constraints captured.
	// </COMPACT-SUMMARY>
}
