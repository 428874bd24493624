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
	if p := out.Passes[0]; p.Applied != 0 || len(p.Edits) != 0 {
		t.Errorf("the mask was discarded, and the pass states %d groups", p.Applied)
	}
	q.Budget.Cap, q.Budget.Max = 500, 1000
	if out, err = e.Run(context.Background(), q); err != nil {
		t.Fatal(err)
	}
	if d, _ := out.Conversation.Decision(2); d != policy.Masked {
		t.Errorf("the budget has room for the block, and the result is %s", d)
	}
	before, after := e.View(q.Conversation, q).Floor(), out.View.Floor()
	for limit, want := range map[int]policy.Decision{before - 1: policy.Masked, before: policy.Truncated, after - 1: policy.Truncated, after: policy.Masked} {
		q.Budget.Cap = limit
		out, err := e.Run(context.Background(), q)
		if d, _ := out.Conversation.Decision(2); d != want || (err == nil) != (limit >= before) {
			t.Errorf("with a budget of %d, between the floors %d and %d, the result is %s: %v", limit, before, after, d, err)
		}
	}
}
