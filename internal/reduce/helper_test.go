package reduce_test

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

func engine(steps ...reduce.Step) *reduce.Engine {
	return &reduce.Engine{Steps: steps, Pins: pins, Keep: policy.Keep{Turns: 6, Pairs: 4}, Cost: words{}}
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

// cutAll is a stage that replaces the remainder by a summary.
type cutAll struct{}

func (cutAll) Name() string { return "summarize" }

func (cutAll) Propose(_ context.Context, v *policy.View) (policy.Proposal, error) {
	p := v.Partition(v.Shrink(10))
	if len(p.Remainder) == 0 {
		return policy.Proposal{}, nil
	}
	m := policy.NewSummary(1, "what happened")
	return policy.Proposal{Groups: [][]policy.Edit{{{Decision: policy.Summarized, Cut: &policy.Cut{
		Removed: p.Remainder, Recent: p.Start, New: &m, Summary: &policy.SummaryInfo{Text: m.Text(), Version: 1},
	}}}}}, nil
}
