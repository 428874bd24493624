package policy_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
)

// asked is a stage that counts the calls of Propose.
type asked struct{ n *int }

func (asked) Name() string { return "asked" }

func (s asked) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	*s.n++
	return policy.Proposal{}, nil
}

// The engine returns the budget error before it calls a stage, because such a call may
// cost money. The error includes the pictures of excluded tools, because no stage
// replaces them.
func TestFloorIncludesPicturesOfExcludedTools(t *testing.T) {
	for _, c := range []struct {
		media policy.Media
		asked int
	}{
		{policy.Media{Deep: true}, 1},
		{policy.Media{Deep: true, ExcludeTools: []string{"screenshot"}}, 0},
		{policy.Media{}, 0},
	} {
		n := 0
		e := engine(reduce.Step{Stage: asked{&n}, Goal: policy.ToBudget}, reduce.Step{Stage: c.media, Goal: policy.ToBudget})
		e.Keep, e.Cost, e.Floors = policy.Keep{Turns: 2, Pairs: 2}, shotCost{}, true
		_, err := run(t, e, shots(10), budget(4_000))
		if refused := errors.Is(err, policy.ErrInsufficientBudget); n != c.asked || refused != (c.asked == 0) {
			t.Errorf("%+v: %d calls of the stage, error %v", c.media, n, err)
		}
	}
}
