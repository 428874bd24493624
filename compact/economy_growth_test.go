package compact

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestGrowthIsTheMeanOfTheLastCalls(t *testing.T) {
	msgs := []message.Message{message.User("first prompt")}
	for range 30 {
		msgs = append(msgs, message.Assistant("", message.Call("a", "bash", "{}")), message.ToolResult("a", "done"))
	}
	costs := make([]int, len(msgs))
	for i := range costs {
		costs[i] = 10
	}
	costs[0] = 100_000
	if g := growthOf(msgs, costs, 20); g != 20 {
		t.Errorf("%v tokens a call, want 20", g)
	}
	if g := growthOf(nil, nil, 20); g != 1 {
		t.Errorf("%v tokens a call of nothing, want 1", g)
	}
}
