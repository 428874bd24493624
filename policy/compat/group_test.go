package compat_test

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
)

// The message that steers an agent is removed with the iteration that it follows. The
// last user message stays, and does not keep that iteration in the view.
func TestGroupsRemoveTheIterationBeforeASteeringMessageThatStays(t *testing.T) {
	steering := message.User("[steering] Look at the tests, too.")
	msgs := slices.Insert(loop(4, 20), 4, steering) // behind the first iteration
	for _, c := range []struct {
		name string
		last bool // the steering message is the last user message
		want []int
	}{
		{"the last user message", true, []int{2, 3}},
		{"an earlier one", false, []int{2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := slices.Clone(msgs)
			if !c.last {
				in = slices.Insert(in, 5, message.User("[steering] And the documentation."))
			}
			v := policy.NewView(in, pins, words{})
			p, err := compat.Groups{Since: compat.AfterRequest}.Propose(t.Context(), v)
			if err != nil || len(p.Groups) == 0 {
				t.Fatalf("%d groups, error %v, want at least 1 group", len(p.Groups), err)
			}
			if got := p.Groups[0][0].Cut.Removed; !slices.Equal(got, c.want) {
				t.Errorf("the first alternative removes %v, want %v", got, c.want)
			}
		})
	}
}
