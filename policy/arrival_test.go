package policy_test

import (
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// The results after the last answer have arrived: no call has sent them.
func TestArrivedBeginsAfterTheLastAnswer(t *testing.T) {
	call, result := message.Assistant("", message.Call("a", "bash", "{}")), message.ToolResult("a", "x")
	for want, msgs := range map[int][]message.Message{
		0: {message.System("s"), message.User("u")},
		1: {message.Assistant("a"), message.User("u")},
		3: {message.User("u"), call, message.Assistant("a"), message.User("u"), result},
		2: {message.User("u"), message.Assistant("a")},
	} {
		v := policy.NewView(msgs, nil, words{})
		if got := v.Arrived(); got != want {
			t.Errorf("%d messages: %d, want %d", len(msgs), got, want)
		}
		if v.HasMedia() {
			t.Errorf("%d messages without media have media", len(msgs))
		}
	}
}

// A part was edited if the ledger knows its origin, or if its text is a placeholder.
func TestEditedAsksTheLedgerAndTheText(t *testing.T) {
	v := policy.NewView([]message.Message{message.ToolResult("a", "x"), message.ToolResult("b", "[observation masked — 12 chars]")}, nil, words{})
	if v.Edited(0, 0) || !v.Edited(1, 0) {
		t.Error("without a ledger, the text decides")
	}
	v.Origins = func(i, _ int) (policy.Origin, bool) { return policy.Origin{}, i == 0 }
	if !v.Edited(0, 0) || !v.Edited(1, 0) {
		t.Error("with a ledger, a recorded edit counts, too")
	}
}

// If one call adds more than the distance from target to trigger, the keep counts leave room
// for another call below the trigger.
func TestShrinkLeavesRoomForAnotherCall(t *testing.T) {
	b := policy.Budget{Max: 450, Cap: 400, Trigger: 340, Target: 200}
	for growth, want := range map[int]int{0: 6, 140: 6, 150: 5, 300: 1} {
		v := policy.NewView(loop(20, 26), pins, words{}) // 9 tokens, and 32 a round
		v.Keep, v.Budget = policy.Keep{Turns: 6, Pairs: 1}, b.Deeper(growth)
		if got := v.Shrink(0); got.Turns != want {
			t.Errorf("growth of %d: keeps %d turns, want %d", growth, got.Turns, want)
		}
	}
}
