package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// The limit of a single result is a quarter of the real cap. For approximate counts,
// stages work for a lower cap, and a quarter of that cap would cut results more than the
// user has configured.
func TestTruncateLimitsAResultToAQuarterOfTheRealCap(t *testing.T) {
	for _, aim := range []int{4_000, 1_000, 100} {
		for words, cut := range map[int]bool{900: false, 1_100: true} {
			b := budget(4_000).Aiming(aim, aim/2)
			out, err := run(t, engine(reduce.Step{Stage: policy.Truncate{MaxTokens: 8_000}, Goal: policy.All}), loop(1, words), b)
			if err != nil || out.Changed() != cut {
				t.Errorf("aim %d, a result of %d words: cut is %v, error is %v", aim, words, out.Changed(), err)
			}
		}
	}
}

// Masking leaves dispatch blocks, which can raise the smallest view above the real cap
// even if the aim cannot be reached in any case. The call would then be refused although
// squeeze could have made the view fit.
func TestEngineDiscardsMasksThatRaiseTheFloorAboveTheRealCap(t *testing.T) {
	text := strings.Repeat("x", 300) + beginBlock + strings.Repeat("b", 300) + endBlock
	msgs := []message.Message{message.User("go")}
	for _, id := range []string{"a", "b", "c"} {
		msgs = append(msgs, message.Assistant("", message.Call(id, "task", "{}")), message.ToolResult(id, text))
		text = "ok"
	}
	msgs = append(msgs, message.Assistant("done"))
	e := reduce.Engine{Dispatch: policy.DefaultDispatchTools(), Keep: policy.Keep{Turns: 1, Pairs: 1}, Cost: bytesCost{},
		Steps: []reduce.Step{{Stage: policy.Mask{WindowTurns: 1}}, {Stage: policy.Squeeze{}, Goal: policy.ToBudget}}}
	b := policy.Budget{Max: 500, Cap: 250, Trigger: 250, Target: 150}
	for _, aim := range []int{250, 50} {
		out, err := e.Run(t.Context(), reduce.Request{Conversation: reduce.NewConversation(msgs, nil, nil), Budget: b.Aiming(aim, aim)})
		if err != nil {
			t.Fatalf("aim %d: %v", aim, err)
		}
		if d, _ := out.Conversation.Decision(2); out.View.Total() > b.Cap || d != policy.Truncated {
			t.Errorf("aim %d: the view costs %d of %d, the result is %s", aim, out.View.Total(), b.Cap, d)
		}
	}
}

// The error names the budget that the user has configured, not the lower cap of the
// stages.
func TestBudgetErrorNamesTheRealCap(t *testing.T) {
	for _, floors := range []bool{false, true} {
		e := engine(reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget})
		e.Floors = floors
		_, err := run(t, e, []message.Message{message.User(text(500))}, budget(400).Aiming(300, 200))
		var b *policy.BudgetError
		if !errors.As(err, &b) || b.Budget != 400 {
			t.Errorf("floors %v: %v", floors, err)
		}
	}
}
