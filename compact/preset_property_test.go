package compact_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/invariant"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// judged makes one call of a preset and passes it to the independent judge.
func judged(m *compact.CompactManager, cost *token.Estimator, history []message.Message, earlier bool, dispatch func(tool string) bool) (*compact.Result, []invariant.Violation) {
	frozen := invariant.Freeze(history)
	res, err := m.Preflight(context.Background(), "s", history)
	found := frozen()
	if err != nil {
		var b *compact.BudgetError
		if !errors.As(err, &b) {
			return res, append(found, invariant.Violation{Rule: "only insufficient budget may fail a call", Detail: err.Error()})
		}
		r := invariant.Refusal{
			In: history, Out: res.Messages, Pinned: pinnedByRole, Cost: cost.Message, Fixed: cost.Reply(), Budget: res.Budget, Tokens: b.Tokens,
			Plan: invariant.Plan{Stages: []string{"drop", "squeeze"}}, // the last stages of both presets
		}
		r.Named, r.Parts = namedBy(b)
		return res, append(found, invariant.CheckRefusal(r)...)
	}
	c := invariant.Case{
		In: history, Out: res.Messages, Pinned: pinnedByRole, Cost: cost.Message, Fixed: cost.Reply(), Budget: res.Budget,
		Triggered: res.Triggered, Fallback: res.InvariantStatus != compact.InvariantsOK, Earlier: earlier,
		Reported: &invariant.Reported{In: res.TokensIn, Out: res.After.Total},
	}
	c.Dispatch = dispatch
	for _, d := range res.Decisions {
		c.Decisions = append(c.Decisions, d.Decision.String())
		c.Reported.Messages = append(c.Reported.Messages, [2]int{d.TokensBefore, d.TokensAfter})
	}
	for _, v := range invariant.Check(c) {
		if !ofThePreset(res, v) && !(earlier && ofALateResult(v)) {
			found = append(found, v)
		}
	}
	for _, w := range res.Warnings {
		found = append(found, invariant.Violation{Rule: "a warning", Detail: w})
	}
	return res, found
}

// ofThePreset reports whether a violation is intended behavior of these presets. The
// judge reads {chars} as runes, and requires a notice for all messages removed without
// a summary; with these presets, iterations and the messages of a fallback are removed
// without a notice. If a fallback dropped a summary, the next summary has version 1
// again.
func ofThePreset(res *compact.Result, v invariant.Violation) bool {
	switch v.Rule {
	case invariant.RuleText:
		return true
	case invariant.RuleSummary:
		return strings.Contains(v.Detail, " replaces version ")
	case invariant.RuleDecision:
		return strings.Contains(v.Detail, " gone") || strings.Contains(v.Detail, " were removed, ") || bareBlocks(res, v.Detail)
	}
	return false
}

// ofALateResult reports whether a violation is about a round with a late result: an
// earlier call has put a notice after the round, and the result arrived later.
func ofALateResult(v invariant.Violation) bool {
	return v.Rule == invariant.RuleRound && strings.Contains(v.Detail, " torn apart ") ||
		v.Rule == invariant.RuleOrder && strings.Contains(v.Detail, "stands before the summary and is not pinned")
}

// bareBlocks reports whether a violation is about a result with nothing but its
// dispatch blocks, which the judge does not count as masked.
func bareBlocks(res *compact.Result, detail string) bool {
	var i int
	if _, err := fmt.Sscanf(detail, "the decision on message %d is masked", &i); err != nil {
		return false
	}
	return slices.ContainsFunc(res.Messages, func(m message.Message) bool {
		return strings.HasPrefix(m.ResultText(), "BEGIN_DISPATCH_RESULT") && res.Decisions[i].Decision == policy.Masked
	})
}

func TestPropertyPresetsOverRandomHistories(t *testing.T) {
	n := samples.Of(60)
	switch {
	case soak():
		n = 3_000
	case testing.Short():
		n = 15
	}
	for _, p := range []struct {
		name    string
		windows []int
		cost    *token.Estimator

		dispatch func(tool string) bool
	}{
		{"gateway", []int{8_000, 12_000, 32_000}, token.NewGatewayEstimator(), onlyDispatch},
		{"history-reducer", []int{1_500, 6_000, 20_000, 60_000}, token.NewCharsEstimator(), nil}, // the program that it imitates reads only the text
	} {
		t.Run(p.name, func(t *testing.T) {
			calls, compactions, refused := 0, 0, 0
			for seed := range uint64(n) {
				rng := rand.New(rand.NewPCG(seed, 11))
				m, err := compact.New(context.Background(), compact.Config{
					Preset: p.name, Model: "gpt-4o", MaxContextTokens: p.windows[rng.IntN(len(p.windows))], Archive: memory.New(),
				})
				if err != nil {
					t.Fatal(err)
				}
				history := histgen.New(seed)
				kept, done := seed%2 == 1, 0
				for call := range 8 {
					res, found := judged(m, p.cost, history, done > 0, p.dispatch)
					calls++
					ok := res.Reason != trace.ReasonNoRoom
					if res.Triggered {
						done++
					}
					if !ok {
						refused++
					} else if again, err := m.Preflight(context.Background(), "s", history); err != nil || again.Triggered {
						found = append(found, invariant.Violation{Rule: invariant.RuleSame, Detail: fmt.Sprintf("compacted again: %v, %v", again.Reason, err)})
					} else {
						found = append(found, invariant.Same("the same history again", res.Messages, again.Messages)...)
					}
					for _, v := range found {
						t.Errorf("seed %d, window %d, call %d: %s", seed, res.MaxTokens, call, v)
					}
					if kept && ok {
						history = res.Messages
					}
					history = histgen.Grow(history, rng)
				}
				compactions += done
				_ = m.Close(context.Background())
				if t.Failed() {
					return
				}
			}
			t.Logf("%d histories, %d calls, %d compactions, %d refused, each confirmed by the independent floor", n, calls, compactions, refused)
		})
	}
}
