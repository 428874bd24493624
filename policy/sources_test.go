package policy_test

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
)

// A pass names the input messages that its text edits changed. The log uses them to name
// roles and tools, even if an earlier stage of the same run has removed messages.
func TestPassNamesTheChangedInputMessages(t *testing.T) {
	e := engine(
		reduce.Step{Stage: policy.Drop{}, Goal: policy.All},
		reduce.Step{Stage: policy.Truncate{MaxTokens: 50}, Goal: policy.All},
	)
	msgs := loop(6, 100)
	out, err := run(t, e, msgs, budget(10_000))
	if err != nil || len(out.Passes) != 2 || out.Passes[0].Applied == 0 || out.Passes[1].Applied == 0 {
		t.Fatalf("error %v, passes %+v; want 2 passes with edits", err, out.Passes)
	}
	var want []int
	for i := range msgs {
		if d, _ := out.Conversation.Decision(i); d == policy.Truncated {
			want = append(want, i)
		}
	}
	got := slices.Clone(out.Passes[1].Sources)
	if slices.Sort(got); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the pass names messages %v, but %v were cut", got, want)
	}
}
