package compat_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/policytest"
)

// words costs one token per word and two per message, which makes costs easy to
// predict.
type words = policytest.Words

var pins = policytest.Pins

func text(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

// loop returns an agent loop: a user message, then rounds of one call and its result of
// size words.
func loop(rounds, size int) []message.Message {
	msgs := []message.Message{message.System("be good"), message.User("do the task")}
	for i := range rounds {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "bash", `{}`)), message.ToolResult(id, text(size)))
	}
	return msgs
}

func run(t *testing.T, e *reduce.Engine, msgs []message.Message, b policy.Budget) (*reduce.Outcome, error) {
	t.Helper()
	return e.Run(context.Background(), reduce.Request{
		Conversation: reduce.NewConversation(msgs, e.Pins, nil), Budget: b,
	})
}

func budget(limit int) policy.Budget {
	return policy.Budget{Max: limit, Cap: limit, Trigger: limit * 85 / 100, Target: limit * 60 / 100}
}

// apply returns the output of a stage for a result with this text. Another result follows
// it.
func apply(t *testing.T, cost policy.Coster, s policy.Stage, text string) string {
	t.Helper()
	msgs := []message.Message{message.User("go")}
	for i, text := range []string{text, "ok"} {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "bash", "{}")), message.ToolResult(id, text))
	}
	e := &reduce.Engine{Steps: []reduce.Step{{Stage: s, Goal: policy.All}}, Pins: pins, Cost: cost}
	out, err := run(t, e, msgs, budget(1_000_000))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range out.Passes {
		if p.Err != nil {
			t.Fatal(p.Err)
		}
	}
	return out.Conversation.Messages()[2].ResultText()
}
