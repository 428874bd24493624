package policy_test

import (
	"context"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
)

func TestTruncateLimitsAResultToAQuarterOfTheBudget(t *testing.T) {
	v := policy.NewView(loop(1, 300), pins, words{})
	for limit, most := range map[int]int{8_000: 100, 60: 60} {
		v.Budget = budget(400)
		p, err := policy.Truncate{MaxTokens: limit}.Propose(context.Background(), v)
		if err != nil || len(p.Groups) != 1 {
			t.Fatalf("error %v, %d groups, want no error and 1 group", err, len(p.Groups))
		}
		c, err := reduce.NewConversation(v.Messages, pins, nil).Apply(p.Groups[0])
		if err != nil {
			t.Fatal(err)
		}
		if n := (words{}).Text(c.Messages()[3].ResultText()); n > most || n < most-2 {
			t.Errorf("limit %d: %d words are left, want %d", limit, n, most)
		}
	}
}

func TestStagesClampTheBoundaryToTheView(t *testing.T) {
	msgs := loop(6, 30)
	for _, at := range []int{-5, 0, len(msgs), len(msgs) + 7} {
		since := func(*policy.View) int { return at }
		for _, stage := range []policy.Stage{policy.Mask{Since: since, KeepFirst: 1}, compat.Groups{Since: since}, compat.History{Since: since, MaxTokens: 10}} {
			out, err := run(t, engine(reduce.Step{Stage: stage, Goal: policy.All}), msgs, budget(10_000))
			if err != nil {
				t.Fatalf("%s at %d: %v", stage.Name(), at, err)
			}
			for _, p := range out.Passes {
				if p.Err != nil { // a stage that panics fails, and the run continues
					t.Errorf("%s at %d: %v", stage.Name(), at, p.Err)
				}
			}
		}
	}
	v := policy.NewView(msgs, pins, words{})
	v.Budget = budget(10_000)
	p, err := policy.Mask{Since: func(*policy.View) int { return -5 }, KeepFirst: 1}.Propose(context.Background(), v)
	if err != nil || len(p.Groups) != 1 || len(p.Groups[0]) != 5 {
		t.Errorf("a boundary before the view does not count as its beginning: error %v, proposal %+v", err, p)
	}
}

// A round of three calls counts as three pairs, not as one.
func TestKeepCountsPairsNotRounds(t *testing.T) {
	msgs := loop(4, 10)
	msgs = append(msgs, message.Assistant("", message.Call("a", "x", "{}"), message.Call("b", "x", "{}"), message.Call("c", "x", "{}")),
		message.ToolResult("a", "1"), message.ToolResult("b", "2"), message.ToolResult("c", "3"))
	v := policy.NewView(msgs, pins, words{})
	if got := v.Partition(policy.Keep{Turns: 1, Pairs: 3}).Recent; !slices.Equal(got, []int{1, 10, 11, 12, 13}) {
		t.Errorf("recent messages for three pairs: %v, want [1 10 11 12 13]", got)
	}
	if got := v.Partition(policy.Keep{Turns: 1, Pairs: 4}).Recent; !slices.Equal(got, []int{1, 8, 9, 10, 11, 12, 13}) {
		t.Errorf("recent messages for four pairs: %v, want messages 8 to 13 and message 1", got)
	}
}

func TestDeeperLowersTheTargetIfAStepExceedsTheGap(t *testing.T) {
	b := policy.Budget{Max: 100, Cap: 95, Trigger: 85, Target: 60}
	for growth, want := range map[int]int{0: 60, 25: 60, 26: 33, 40: 5, 70: 0} {
		if got := b.Deeper(growth).Target; got != want {
			t.Errorf("growth of %d: target %d, want %d", growth, got, want)
		}
	}
	if got := b.CapOnly().Deeper(50).Target; got != 95 {
		t.Errorf("budget without a target: target is %d, want 95", got)
	}
}
