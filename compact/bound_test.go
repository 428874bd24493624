package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

func approximate(t *testing.T) *rig {
	return newRig(t, compact.Config{Preset: "summarize", Model: "claude-sonnet-4", MaxContextTokens: 20_000})
}

// With an approximate count, no view is sent whose upper bound exceeds the budget
// while a stage can make it smaller.
func TestUpperBoundFitsTheBudget(t *testing.T) {
	for _, tokens := range []int{14_000, 15_000, 16_000, 18_000, 40_000} {
		for _, billed := range []int{80, 100, 130} { // in percent of the count
			r := approximate(t)
			for range 6 {
				res := r.preflight(loop(3, 1000))
				r.Observe(res, compact.Usage{PromptTokens: res.After.Total * billed / 100})
			}
			res := r.preflight(loop(1, tokens))
			if res.UpperBound > res.Budget {
				t.Errorf("%d tokens: upper bound %d of a view of %d tokens, the budget is %d", tokens, res.UpperBound, res.After.Total, res.Budget)
			}
		}
	}
}

// A view that can't be made smaller is sent if its count fits, and is refused if the
// count does not: the upper bound alone refuses nothing.
func TestUpperBoundRefusesNothing(t *testing.T) {
	r := approximate(t)
	asked := func(tokens int) []message.Message { return []message.Message{message.User(text(tokens))} }
	res := r.preflight(asked(17_000))
	if res.UpperBound <= res.Budget || res.After.Total > res.Budget {
		t.Fatalf("the view costs %d tokens, at most %d; the budget is %d", res.After.Total, res.UpperBound, res.Budget)
	}
	_, err := r.Preflight(context.Background(), "t", asked(20_000))
	var refused *policy.BudgetError
	if !errors.As(err, &refused) || refused.Budget != res.Budget {
		t.Errorf("%v; the budget is %d", err, res.Budget)
	}
}

// The trigger is compared with the upper bound, and so is the target: a target for
// the estimate would leave little room between the two, and the next compaction would
// come soon.
func TestUpperBoundIsComparedWithTheTarget(t *testing.T) {
	for _, preset := range []string{"summarize", "graduated"} {
		r := newRig(t, compact.Config{Preset: preset, Model: "claude-sonnet-4", MaxContextTokens: 20_000})
		res := r.preflight(loop(60, 400))
		if !res.Triggered || res.After.Total >= res.UpperBound || res.UpperBound > res.Target {
			t.Errorf("%s: upper bound %d of a view of %d tokens, the target is %d", preset, res.UpperBound, res.After.Total, res.Target)
		}
	}
}

// A session that waits above the trigger reports the number that is compared with it.
func TestWaitNamesTheUpperBoundWhereCountsAreApproximate(t *testing.T) {
	for model, is := range map[string]bool{"claude-sonnet-4": true, "gpt-4": false} {
		r := newRig(t, compact.Config{Preset: "summarize", Model: model, MaxContextTokens: 20_000})
		res := r.preflight([]message.Message{message.User(text(17_000))})
		said := strings.Join(res.Warnings, "\n")
		if !strings.Contains(said, fmt.Sprintf("the view costs %d tokens", res.After.Total)) || (res.UpperBound > res.After.Total) != is {
			t.Fatalf("%s: %q, the upper bound is %d of %d", model, said, res.UpperBound, res.After.Total)
		}
		if named := strings.Contains(said, fmt.Sprintf("upper bound %d", res.UpperBound)); named != is {
			t.Errorf("%s: the upper bound is named: %v, in %q, want %v", model, named, said, is)
		}
	}
}

// Two figures of one call with the same name are equal, or the event distinguishes
// them.
func TestDecisionListsItsComparisons(t *testing.T) {
	for model, bounded := range map[string]bool{"gpt-4o": false, "claude-sonnet-4-5": true} {
		r := newRig(t, compact.Config{Model: model, MaxContextTokens: 64_000})
		res := r.preflight(loop(40, 200))
		counted := dataOf[trace.TokenEstimate](t, last(t, r, trace.NameTokenEstimate)).TEst
		d := dataOf[trace.TriggerDecision](t, last(t, r, trace.NameTriggerDecision))
		if counted != res.Before.Total || d.TEst < counted {
			t.Errorf("%s: counted %d, compared %d, the result has %d", model, counted, d.TEst, res.Before.Total)
		}
		if bounded && (d.Estimated != counted || d.TEst == counted) || !bounded && (d.TEst != counted || d.Estimated != 0) || strings.Contains(d.OutputText, "at most") != bounded {
			t.Errorf("%s: counted %d, compared %d, and the event has %d: %s", model, counted, d.TEst, d.Estimated, d.OutputText)
		}
	}
}
