package policytest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// run lets an engine apply the proposal of a stage to a conversation, as far as the goal
// requires.
func run(s policy.Stage, msgs []message.Message, v *policy.View, goal policy.Goal) (*reduce.Outcome, error) {
	e := &reduce.Engine{Steps: []reduce.Step{{Stage: s, Goal: goal}}, Pins: Pins, Keep: v.Keep, Cost: Words{}}
	out, err := e.Run(context.Background(), reduce.Request{Conversation: reduce.NewConversation(msgs, Pins, nil), Budget: v.Budget})
	if err != nil && !errors.Is(err, policy.ErrInsufficientBudget) {
		return nil, err
	}
	for _, p := range out.Passes {
		if p.Err != nil {
			return nil, p.Err
		}
	}
	return out, nil
}

// keepsPromises lets the engine check every edit that the stage proposes.
func keepsPromises(s policy.Stage, v *policy.View) error {
	for _, goal := range []policy.Goal{policy.All, policy.ToTarget} {
		if _, err := run(s, v.Messages, v, goal); err != nil {
			return err
		}
	}
	return eachGroup(s, v)
}

// eachGroup applies the first group, the first two groups, and so on in growing steps,
// because an engine applies only as many groups as its goal needs.
func eachGroup(s policy.Stage, v *policy.View) error {
	p, err := ask(context.Background(), s, v.Copy())
	if err != nil {
		return err
	}
	for n := 1; n <= len(p.Groups); n += 1 + n/4 {
		part := policy.Proposal{Groups: p.Groups[:n]}
		if p.Alternatives {
			part.Groups = p.Groups[n-1 : n]
		}
		if _, err := run(fixed{s.Name(), part}, v.Messages, v, policy.All); err != nil {
			return fmt.Errorf("%d of %d groups: %w", n, len(p.Groups), err)
		}
	}
	return nil
}

// fixed is a stage that proposes a given proposal.
type fixed struct {
	name string
	p    policy.Proposal
}

func (f fixed) Name() string { return f.name }

func (f fixed) Propose(context.Context, *policy.View) (policy.Proposal, error) { return f.p, nil }

// replays checks that the recipes of the edits lead to the same view.
func replays(s policy.Stage, v *policy.View) error {
	out, err := run(s, v.Messages, v, policy.All)
	if err != nil {
		return err
	}
	c := reduce.NewConversation(v.Messages, Pins, nil)
	for _, p := range out.Passes {
		if p.Applied == 0 {
			continue
		}
		if c, err = c.Replay(p.Recipe); err != nil {
			return err
		}
	}
	return same(c.Messages(), out.Conversation.Messages())
}

func same(a, b []message.Message) error {
	if !slices.EqualFunc(a, b, func(x, y message.Message) bool { return x.Fingerprint() == y.Fingerprint() }) {
		return fmt.Errorf("got %d messages, want %d; counts or contents differ", len(a), len(b))
	}
	return nil
}

// restless is the maximum number of consecutive runs in which a stage may change its own
// output.
const restless = 50

// comesToRest checks that the stage eventually leaves its own output unchanged.
func comesToRest(s policy.Stage, v *policy.View) error {
	msgs := v.Messages
	for range restless {
		out, err := run(s, msgs, v, policy.All)
		if err != nil {
			return err
		}
		next := out.Conversation.Messages()
		if same(next, msgs) == nil {
			return nil
		}
		msgs = next
	}
	return fmt.Errorf("the stage still changes the view after %d repetitions", restless)
}

// alternatives checks that each alternative leaves no more tokens than the one before.
func alternatives(s policy.Stage, v *policy.View) error {
	p, err := ask(context.Background(), s, v.Copy())
	if err != nil || !p.Alternatives {
		return err
	}
	last := v.Total() + 1
	for n := range p.Groups {
		out, err := run(fixed{s.Name(), policy.Proposal{Groups: p.Groups[n : n+1]}}, v.Messages, v, policy.All)
		if err != nil {
			return err
		}
		if total := out.View.Total(); total > last {
			return fmt.Errorf("alternative %d leaves %d tokens, more than the one before, which leaves %d", n, total, last)
		} else {
			last = total
		}
	}
	return nil
}

// takes checks that a Taker names every message that it removes.
func takes(s policy.Stage, v *policy.View) error {
	t, ok := s.(policy.Taker)
	if !ok {
		return nil
	}
	said := map[int]bool{}
	for _, i := range t.Takes(v.Copy()) {
		if i < 0 || i >= len(v.Messages) {
			return fmt.Errorf("the stage names message %d, of %d messages", i+1, len(v.Messages))
		}
		said[i] = true
	}
	p, err := ask(context.Background(), s, v.Copy())
	if err != nil {
		return err
	}
	for _, e := range slices.Concat(p.Groups...) {
		for i := 0; e.Cut != nil && i < len(e.Cut.Removed); i++ {
			if !said[e.Cut.Removed[i]] {
				return fmt.Errorf("the stage removes message %d without naming it", e.Cut.Removed[i]+1)
			}
		}
	}
	return nil
}
