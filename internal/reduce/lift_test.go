package reduce

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Masking leaves a dispatch block that no later stage can cut. If squeeze alone reaches the
// budget, the engine discards the mask instead of refusing the call.
func TestEngineDiscardsEditsThatRaiseTheFloorAboveTheBudget(t *testing.T) {
	block := "BEGIN_DISPATCH_RESULT\n" + strings.Repeat("b", 300) + "\nEND_DISPATCH_RESULT"
	history := []message.Message{message.User("go")}
	for i, text := range []string{strings.Repeat("x", 300) + block, "ok", "ok"} {
		id := string(rune('a' + i))
		history = append(history, message.Assistant("", message.Call(id, "run", "{}")), message.ToolResult(id, text))
	}
	history = append(history, message.Assistant("done"))
	e := Engine{Dispatch: []string{"run"}, Keep: policy.Keep{Turns: 1, Pairs: 1}, Cost: charCost{}, Steps: []Step{{Stage: policy.Mask{WindowTurns: 1}}, {Stage: policy.Squeeze{}, Goal: policy.ToBudget}}}
	q := Request{Conversation: NewConversation(history, nil, nil), Budget: policy.Budget{Max: 500, Cap: 200, Trigger: 200, Target: 150}}
	out, err := e.Run(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if d, _ := out.Conversation.Decision(2); out.View.Total() > 200 || d != policy.Truncated {
		t.Errorf("the view costs %d of 200, the result is %s", out.View.Total(), d)
	}
	q.Budget.Cap, q.Budget.Max = 500, 1000
	if out, err = e.Run(context.Background(), q); err != nil {
		t.Fatal(err)
	}
	if d, _ := out.Conversation.Decision(2); d != policy.Masked {
		t.Errorf("the budget has room for the block, and the result is %s", d)
	}
}
