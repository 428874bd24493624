package policy_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// The parts of the error add up to the cost of the smallest view, in which all results are
// cut and all pictures replaced as far as possible.
func TestBudgetErrorAddsUpToTheSmallestView(t *testing.T) {
	for name, c := range map[string]struct {
		stage policy.Stage
		cost  policy.Coster
		msgs  []message.Message
		limit int
		most  int // more than the smallest view, and less than the view without the stage
	}{
		"results":  {policy.Squeeze{}, words{}, loop(9, 100), 100, 500},
		"pictures": {policy.Media{Deep: true}, shotCost{}, shots(9), 800, 2000},
	} {
		for _, floors := range []bool{false, true} {
			e := engine(reduce.Step{Stage: c.stage, Goal: policy.ToBudget})
			e.Floors, e.Cost = floors, c.cost
			_, err := e.Run(t.Context(), reduce.Request{Conversation: reduce.NewConversation(c.msgs, pins, nil), Fixed: 30, Budget: budget(c.limit)})
			var b *policy.BudgetError
			if !errors.As(err, &b) {
				t.Fatal(err)
			}
			sum := b.Fixed
			for _, c := range b.Largest {
				sum += c.Tokens
			}
			for _, s := range b.Others {
				sum += s.Tokens
			}
			if sum != b.Tokens || b.Tokens > c.most || len(b.Others) == 0 {
				t.Errorf("%s, floors %v: the parts add up to %d tokens of %d: %v", name, floors, sum, b.Tokens, err)
			}
		}
	}
}

// The error names the stages that would make the view fit, and no more than necessary.
func TestBudgetErrorNamesTheMissingStages(t *testing.T) {
	said := []message.Message{message.User("go")}
	for range 10 {
		said = append(said, message.Assistant(text(300)), message.User("go on"))
	}
	for _, c := range []struct {
		msgs  []message.Message
		rigid bool
		limit int
		want  string
		more  []reduce.Step
	}{
		{said, true, 2_000, "add summarize to policy.stages", nil},
		{said, true, 700, "add summarize and shrink to policy.stages", nil},
		{said, false, 700, "add summarize to policy.stages", nil},
		{loop(10, 300), true, 700, "add squeeze to policy.stages", nil},
		{loop(10, 300), true, 700, "add squeeze to policy.stages", []reduce.Step{{Stage: policy.Mask{WindowTurns: 6}, Goal: policy.All}}}, // mask has masked every result that it may
		{said, true, 100, "shorten the largest messages", nil},
	} {
		e := engine(append(c.more, reduce.Step{Stage: policy.Duplicates{}, Goal: policy.ToBudget})...)
		e.Rigid = c.rigid
		_, err := run(t, e, c.msgs, budget(c.limit))
		var b *policy.BudgetError
		if !errors.As(err, &b) || !slices.Contains(b.Advice, c.want) {
			t.Errorf("%d of %d messages, rigid %v: %v", c.limit, len(c.msgs), c.rigid, err)
		}
	}
}

// The share that a configuration reserves in percent is not part of the budget.
func TestConfigLimitsReserveTheMargin(t *testing.T) {
	c := policy.Config{TriggerPct: 0.85, TargetPct: 0.60, HardCapBuffer: 1500}
	all, err := c.Budget(100_000, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	c.MarginPct = 7
	if b, err := c.Budget(100_000, 1_000); err != nil || b.Cap != all.Cap-7_000 {
		t.Errorf("%d tokens of %d with a margin of 7 %%, %v; want %d and no error", b.Cap, all.Cap, err, all.Cap-7_000)
	}
}

// The error states every size that adds up to the view, and the advice, in one sentence.
// It counts messages from 1, as dry-run and show do.
func TestBudgetErrorIsOneSentenceWithAllSizes(t *testing.T) {
	e := &policy.BudgetError{
		Tokens: 1_234_567, Budget: 1_000, Fixed: 2_000, Stages: "preset masking",
		Largest: []policy.Contributor{{Index: 4, Role: message.RoleUser, Tokens: 900, Why: "pinned"}, {Index: -1, Role: message.RoleUser, Tokens: 80, Why: "pinned"}},
		Others:  []policy.Share{{Why: "last turn", Messages: 1, Tokens: 70}, {Why: "no stage may remove it", Messages: 213, Tokens: 60}},
	}
	const sizes = "insufficient budget: the smallest view costs 1,234,567 tokens, the budget is 1,000; tool schemas and overhead 2,000; message 5 (user, pinned) 900; " +
		"a message made by a stage (user, pinned) 80; " +
		"70 tokens in 1 message (last turn); 60 tokens in 213 messages that no stage of preset masking may remove"
	for advice, want := range map[string][]string{"": nil, ". Do a": {"do a"}, ". Do a or b": {"do a", "b"}, ". Do a, b or c": {"do a", "b", "c"}} {
		e.Advice = want
		if got := e.Error(); got != sizes+advice {
			t.Errorf("%s\nwant %s", got, sizes+advice)
		}
	}
}

// Shares are ordered by their tokens, not by their number of messages.
func TestSharesAreOrderedByTokens(t *testing.T) {
	of := func(why string, tokens int) policy.Contributor { return policy.Contributor{Why: why, Tokens: tokens} }
	want := []policy.Share{{Why: "pinned", Messages: 1, Tokens: 90}, {Why: "last turn", Messages: 3, Tokens: 6}}
	if got := policy.Shares([]policy.Contributor{of("last turn", 1), of("pinned", 90), of("last turn", 2), of("last turn", 3)}); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
