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
				t.Errorf("aim %d, a result of %d words: cut is %v, error is %v, want a cut only of a result above the limit, and no error", aim, words, out.Changed(), err)
			}
		}
	}
}

// Masking leaves dispatch blocks. With these blocks, the smallest view can be above the
// real cap, and the call would be refused although squeeze could have made the view fit.
// The engine must discard such masks even if no view reaches the aim.
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
			t.Errorf("aim %d: the view costs %d, want at most %d; the result is %s, want truncated", aim, out.View.Total(), b.Cap, d)
		}
	}
}

// The same holds for the lowered cap: it has room for the markers, and not for the blocks.
func TestEngineDiscardsMasksThatRaiseTheFloorAboveTheAim(t *testing.T) {
	msgs := []message.Message{message.User("go"), message.Assistant("", message.Call("a", "task", "{}")), message.ToolResult("a", strings.Repeat("x", 900)+beginBlock+strings.Repeat("b", 300)+endBlock), message.Assistant("done")}
	e := reduce.Engine{Dispatch: policy.DefaultDispatchTools(), Keep: policy.Keep{Turns: 1}, Cost: bytesCost{},
		Steps: []reduce.Step{{Stage: policy.Mask{Turns: 1}}, {Stage: policy.Squeeze{}, Goal: policy.ToBudget}}}
	msgs = append(msgs, message.User("and?"), message.Assistant("ok"))
	b := policy.Budget{Max: 900, Cap: 800, Trigger: 800, Target: 700}
	for aim, want := range map[int]policy.Decision{800: policy.Masked, 250: policy.Truncated} {
		out, err := e.Run(t.Context(), reduce.Request{Conversation: reduce.NewConversation(msgs, nil, nil), Budget: b.Aiming(aim, aim)})
		if err != nil {
			t.Fatalf("aim %d: %v", aim, err)
		}
		if d, _ := out.Conversation.Decision(2); out.View.Total() > aim || d != want {
			t.Errorf("aim %d: the view costs %d, the result is %s, want %s", aim, out.View.Total(), d, want)
		}
	}
}

// A view between the lowered cap and the real cap is sent. So the call must not be refused
// because of its floor before any stage runs.
func TestFloorAboveTheLoweredCapIsNoError(t *testing.T) {
	for most, refused := range map[int]bool{600: false, 400: true} {
		n := 0
		e := engine(reduce.Step{Stage: asked{&n}, Goal: policy.ToBudget}, reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget})
		e.Floors = true
		msgs := append(loop(1, 400), message.Assistant("yes"), message.User(text(450)))
		_, err := run(t, e, msgs, budget(most).Aiming(300, 200))
		if errors.Is(err, policy.ErrInsufficientBudget) != refused || (n == 0) != refused {
			t.Errorf("view of %d tokens: error %v, the stage ran %d times; want either a budget error or a stage that ran", most, err, n)
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
			t.Errorf("floors %v: error %v, want a budget error that names 400", floors, err)
		}
	}
}
