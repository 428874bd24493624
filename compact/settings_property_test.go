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
)

func oneOf[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// some returns a random selection of all, in random order.
func some[T any](rng *rand.Rand, all ...T) []T {
	rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all[:rng.IntN(len(all)+1)]
}

// drawn returns a random valid configuration.
func drawn(t *testing.T, rng *rand.Rand) compact.Config {
	t.Helper()
	for {
		c, err := compact.Preset(oneOf(rng, compact.Presets()...))
		if err != nil {
			t.Fatal(err)
		}
		c.Model, c.Archive = propertyModel, memory.New()
		c.Counting = oneOf(rng, "model", "model", "bytes4", "utf16")
		c.MaxContextTokens = 1_600 + rng.IntN(1+rng.IntN(20_000))
		c.MaxOutputTokens = oneOf(rng, 0, 0, rng.IntN(2_000))
		drawPolicy(rng, &c.Policy)
		c.Truncate = policy.TruncateConfig{When: oneOf(rng, policy.AtTrigger, policy.Always), MaxToolResultTokens: 1 + rng.IntN(1+rng.IntN(8_000)), Keep: oneOf(rng, "head", "tail", "both", "auto")}
		c.Mask.When, c.Mask.Every = oneOf(rng, policy.AtTrigger, policy.Always), 1+rng.IntN(4)
		c.Mask.WindowTurns, c.Mask.KeepFirst, c.Mask.KeepLast = rng.IntN(12), rng.IntN(4), rng.IntN(6)
		c.Mask.ExcludeTools = some(rng, "bash", "read_file", "search")
		c.Mask.MinTokens = oneOf(rng, 0, 50)
		c.Mask.MaxObservationChars = oneOf(rng, 0, 0, 48+rng.IntN(400))
		c.Mask.Template = oneOf(rng, "", "", "[gone: {chars} characters of {tool}, {status}]", "[{ref}]", "x")
		c.Summarizer.MaxTokens = 64 + rng.IntN(1+rng.IntN(3_000))
		c.Summarizer.Fallback = oneOf(rng, "pruning-only", "extractive")
		if c.Validate() == nil {
			return c
		}
	}
}

func drawPolicy(rng *rand.Rand, p *policy.Config) {
	if rng.IntN(4) > 0 {
		p.Stages = append(some(rng, "window", "truncate", "mask", "history", "summarize", "shrink", "local", "fallback", "groups", "drop", "squeeze"), oneOf(rng, "squeeze", "summarize", "mask"))
	}
	p.TriggerPct = 0.2 + 0.8*rng.Float64()
	p.TargetPct = p.TriggerPct * (0.1 + 0.85*rng.Float64())
	p.HardCapBuffer, p.MarginPct = rng.IntN(1_500), oneOf(rng, 0, 0, rng.IntN(30))
	p.KeepRecentTurns, p.KeepToolIOPairs = 1+rng.IntN(10), 1+rng.IntN(8)
	p.RolesNeverPrune = some(rng, message.RoleSystem, message.RoleDeveloper, message.RoleUser, message.RoleAssistant, message.RoleTool)
	if rng.IntN(2) == 0 {
		p.RolesNeverPrune = []message.Role{message.RoleSystem, message.RoleDeveloper}
	}
	p.MaxHistoryTokens, p.KeepRecentMessages = oneOf(rng, 0, rng.IntN(5_000)), rng.IntN(6)
}

// planOf returns the facts about a configuration that the independent floor needs.
func planOf(c compact.Config) invariant.Plan {
	p := invariant.Plan{
		Stages: c.Policy.Stages, KeepTurns: c.Policy.KeepRecentTurns, KeepPairs: c.Policy.KeepToolIOPairs,
		MaskTurns: c.Mask.WindowTurns, MaskFirst: c.Mask.KeepFirst, MaskLast: c.Mask.KeepLast, KeepMessages: c.Policy.KeepRecentMessages,
	}
	k := c.Mask
	p.Unknown = slices.Contains(p.Stages, "truncate") || slices.Contains(p.Stages, "mask") && (k.Template != "" || k.MaxObservationChars > 0 || len(k.ExcludeTools) > 0 || k.MinTokens > 0 || k.Every > 1)
	return p
}

func TestPropertyEveryValidSettingWorks(t *testing.T) {
	n := samples.Of(200)
	switch {
	case soak():
		n = 20_000
	case testing.Short():
		n = 40
	}
	calls, compactions, refused := 0, 0, 0
	seeds := samples.Seeds(n)
	for _, seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 13))
		c := drawn(t, rng)
		var log logged
		c.Logger = log.logger()
		m, err := compact.New(context.Background(), c)
		if err != nil {
			t.Fatalf("seed %d: validation accepts the settings, but New returned %v", seed, err)
		}
		history := histgen.New(seed)
		label := fmt.Sprintf("seed %d, window %d, %s, stages %v, roles %v", seed, c.MaxContextTokens, c.Counting, c.Policy.Stages, c.Policy.RolesNeverPrune)
		for range 4 {
			res, found := callAndCheck(t, m, c, history)
			for _, v := range found {
				t.Errorf("%s: %s", label, v)
			}
			if len(found) > 0 {
				t.Logf("%v; warnings %q; stages %+v", res.Reason, res.Warnings, res.Stages)
			}
			calls++
			if res.Triggered {
				compactions++
			}
			if res.Decisions == nil {
				refused++
			} else if seed%2 == 1 {
				history = res.Messages
			}
			history = histgen.Grow(history, rng)
		}
		if s := log.String(); s != "" {
			t.Errorf("%s: logged %.2000s, want none", label, s)
		}
		_ = m.Close(context.Background())
		if t.Failed() && !soak() {
			break
		}
	}
	t.Logf("%d configurations, %d calls, %d compactions, %d refused, every refusal confirmed by the independent floor", len(seeds), calls, compactions, refused)
}

// callAndCheck makes one call, and returns the violations of the invariants that hold
// for all settings.
func callAndCheck(t *testing.T, m *compact.CompactManager, c compact.Config, history []message.Message) (*compact.Result, []invariant.Violation) {
	t.Helper()
	cost := costOf(t, c)
	pinned := func(m message.Message) bool { return slices.Contains(c.Policy.RolesNeverPrune, m.Role) }
	frozen := invariant.Freeze(history)
	res, err := m.Preflight(context.Background(), "s", history)
	found := frozen()
	var b *compact.BudgetError
	if errors.As(err, &b) {
		r := invariant.Refusal{
			In: history, Out: res.Messages, Pinned: pinned, Cost: cost.Message, Fixed: cost.Reply(), Budget: res.Budget, Tokens: b.Tokens, Plan: planOf(c),
		}
		r.Named, r.Parts = namedBy(b)
		broken := invariant.CheckRefusal(r)
		if len(broken) > 0 {
			t.Log(err)
		}
		return res, append(found, broken...)
	}
	if err != nil {
		return res, append(found, invariant.Violation{Rule: "only insufficient budget may fail a call", Detail: err.Error()})
	}
	k := invariant.Case{In: history, Out: res.Messages, Pinned: pinned, Cost: cost.Message, Fixed: cost.Reply(), Budget: max(res.Budget, res.Trigger), Earlier: true}
	for _, d := range res.Decisions {
		k.Decisions = append(k.Decisions, d.Decision.String())
	}
	for _, v := range invariant.Check(k) {
		if slices.Contains([]string{invariant.RulePinned, invariant.RuleOrphan, invariant.RuleAccount, invariant.RuleBudget, invariant.RuleGrowth, invariant.RuleAnchor}, v.Rule) {
			found = append(found, v)
		}
	}
	for _, w := range res.Warnings {
		if strings.Contains(w, "policy: stage") {
			found = append(found, invariant.Violation{Rule: "the edits of a stage were discarded", Detail: w})
		}
	}
	return res, found
}

func costOf(t *testing.T, c compact.Config) *token.Estimator {
	t.Helper()
	switch c.Counting {
	case "bytes4":
		return token.NewGatewayEstimator()
	case "utf16":
		return token.NewCharsEstimator()
	}
	cost, err := token.NewEstimator(propertyModel, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cost
}
