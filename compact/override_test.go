package compact_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
)

func TestOverrideHoldsForTheCallsThatItNames(t *testing.T) {
	r := newRig(t, compact.Config{
		Model: "gpt-4o", MaxContextTokens: 100_000,
		Overrides: []compact.Override{
			{Model: "CLAUDE-*", Set: map[string]any{"policy.trigger_pct": 0.7}},
			{Agent: "reviewer", Set: map[string]any{"policy.hard_cap_buffer": 0, "max_output_tokens": 4000}},
			{Model: "claude-*", Agent: "reviewer", Set: map[string]any{"max_context_tokens": 50_000, "policy.trigger_pct": 0.9}},
		},
	})
	for _, c := range []struct {
		model, agent            string
		window, budget, trigger int
	}{
		{"", "", 100_000, 98_500, 85_000},
		{"claude-sonnet-4", "", 100_000, 98_500, 70_000},
		{"anthropic/claude-sonnet-4", "", 100_000, 98_500, 85_000},
		{"", "reviewer", 100_000, 96_000, 85_000},
		{"", "Reviewer", 100_000, 98_500, 85_000},
		{"claude-sonnet-4", "reviewer", 50_000, 46_000, 45_000},
	} {
		res := r.preflight(turns(2, 10), compact.WithModel(c.model), compact.WithAgent(c.agent))
		if res.MaxTokens != c.window || res.Budget != c.budget || res.Trigger != c.trigger {
			t.Errorf("%s for %q: window %d, budget %d, trigger %d; want %+v", c.model, c.agent, res.MaxTokens, res.Budget, res.Trigger, c)
		}
	}
}

// Engine, stages, templates and events follow the override, and the next call
// of the agent repeats the edits.
func TestOverrideChangesTheResult(t *testing.T) {
	r := newRig(t, compact.Config{
		MaxContextTokens: 8000,
		Overrides: []compact.Override{
			{Agent: "quiet", Set: map[string]any{"policy.stages": []string{"mask", "squeeze"}, "mask.template": "[gone: {tool}]", "mask.window_turns": 1, "mask.keep_first": 0, "policy.roles_never_prune": []message.Role{"system"}}},
			{Agent: "off", Set: map[string]any{"policy.when": "never"}},
		},
	})
	history := loop(30, 400)
	quiet := r.preflight(history, compact.WithAgent("quiet"))
	if !hasText(quiet.Messages, "[gone: ") || quiet.Step != 1 {
		t.Fatalf("step %d, %s: no placeholder of the override", quiet.Step, quiet.Reason)
	}
	if again := r.preflight(history, compact.WithAgent("quiet")); again.Replayed == 0 || !hasText(again.Messages, "[gone: ") || again.Step != 0 {
		t.Errorf("the next call replays %d edits", again.Replayed)
	}
	if other := r.preflight(history, compact.WithAgent("other")); hasText(other.Messages, "[gone: ") || !other.Triggered {
		t.Errorf("an agent that is not named: %s", other.Reason)
	}
	off := r.preflight(history, compact.WithAgent("off"))
	if off.Triggered || off.Reason != trace.ReasonNever || len(off.Messages) != len(history) {
		t.Errorf("switched off: %s, %d of %d messages, want %s", off.Reason, len(off.Messages), len(history), trace.ReasonNever)
	}
	if manual, err := r.ManualCompact(t.Context(), "s", history, "asked", compact.WithAgent("off")); err != nil || !manual.Triggered {
		t.Errorf("by hand: %v", err)
	}
}

func hasText(msgs []message.Message, part string) bool {
	for _, m := range msgs {
		for _, p := range m.Parts {
			if strings.Contains(p.Text, part) {
				return true
			}
		}
	}
	return false
}

func TestInvalidOverrideIsRefusedWithItsPath(t *testing.T) {
	set := func(path string, value any) compact.Override {
		return compact.Override{Model: "claude-*", Set: map[string]any{path: value}}
	}
	for _, c := range []struct {
		overrides []compact.Override
		want      string
	}{
		{[]compact.Override{set("policy.trigger_pct", 1.7)}, "overrides[0].policy.trigger_pct must be 0.0-1.0 (got 1.7)"},
		{[]compact.Override{set("policy.trigger_pct", 0.5)}, "overrides[0].policy.target_pct must be below policy.trigger_pct 0.5 (got 0.6)"},
		{[]compact.Override{set("policy.keep_recent_turns", "six")}, `overrides[0].policy.keep_recent_turns must be a whole number (got "six")`},
		{[]compact.Override{set("summarizer.timeout", 3)}, "overrides[0].summarizer.timeout must be a duration such as 60s or 2m30s (got 3)"},
		{[]compact.Override{set("policy.stages", []string{"maks"})}, "overrides[0].policy.stages[0] must be one of"},
		{[]compact.Override{set("policy.triger_pct", 0.5)}, "overrides[0].policy.triger_pct is not a setting"},
		{[]compact.Override{set("policy", 0.5)}, "overrides[0].policy is a section, not a setting"},
		{[]compact.Override{set("redaction.enabled", false)}, "overrides[0].redaction.enabled holds for all models and agents"},
		{[]compact.Override{set("storage.path", "/tmp")}, "overrides[0].storage.path holds for all models and agents"},
		{[]compact.Override{set("counting", "utf16")}, "overrides[0].counting holds for all models and agents"},
		{[]compact.Override{set("summarizer.model", "gpt-4o-mini")}, "overrides[0].summarizer.model has no effect with summarizer.backend extractive"},
		{[]compact.Override{{Set: map[string]any{"policy.trigger_pct": 0.7}}}, "overrides[0] applies to no call"},
		{[]compact.Override{{Model: "x"}}, "overrides[0] changes nothing"},
		{
			[]compact.Override{set("policy.trigger_pct", 0.7), {Agent: "a", Set: map[string]any{"policy.target_pct": 0.8}}},
			`overrides[1].policy.target_pct must be below policy.trigger_pct 0.7, together with the override for model "claude-*" (got 0.8)`,
		},
	} {
		_, err := compact.New(t.Context(), compact.Config{Archive: memory.New(), Overrides: c.overrides})
		var e *compact.ConfigError
		if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	apart := []compact.Override{
		{Agent: "a", Set: map[string]any{"policy.trigger_pct": 0.7}},
		{Agent: "b", Set: map[string]any{"policy.target_pct": 0.8}},
	}
	if err := (compact.Config{Overrides: apart}).Validate(); err != nil {
		t.Errorf("no call is of both: %v", err)
	}
}

func TestConfigOfACallIncludesItsOverrides(t *testing.T) {
	c := compact.Config{Model: "gpt-4o", Overrides: []compact.Override{
		{Model: "g?t-4*", Set: map[string]any{"policy.keep_recent_turns": 3, "truncate.when": policy.Always}},
		{Agent: "*", Set: map[string]any{"policy.keep_recent_turns": 4}},
	}}
	for _, want := range []struct {
		model, agent string
		turns        int
		when         policy.When
	}{{"", "", 3, policy.Always}, {"", "any", 4, policy.Always}, {"claude", "", 6, policy.AtTrigger}, {"gpt-5", "x", 4, policy.AtTrigger}, {"GPT-4", "", 3, policy.Always}} {
		got, err := c.For(want.model, want.agent)
		if err != nil || got.Policy.KeepRecentTurns != want.turns || got.Truncate.When != want.when {
			t.Errorf("%+v: %d turns, %s, %v; want %d, %s and no error", want, got.Policy.KeepRecentTurns, got.Truncate.When, err, want.turns, want.when)
		}
	}
}

// An override with another backend leaves out the settings of the summarizer that this
// backend does not use: the agent's model gets the prompt, and no server.
func TestOverrideWithAnotherBackendKeepsTheSettingsThatItUses(t *testing.T) {
	c := compact.Config{Model: "gpt-4o", Overrides: []compact.Override{
		{Agent: "writer", Set: map[string]any{"summarizer.backend": "agent"}},
		{Agent: "plain", Set: map[string]any{"summarizer.backend": "extractive"}},
	}}
	c.Summarizer = compact.SummarizerConfig{Backend: "openai", Model: "m", BaseURL: "http://localhost/v1", Instructions: "In German.", Sections: []string{"Decisions"}}
	for agent, want := range map[string]compact.SummarizerConfig{
		"":       c.Summarizer,
		"writer": {Backend: "agent", Instructions: "In German.", Sections: []string{"Decisions"}},
		"plain":  {Backend: "extractive"},
	} {
		got, err := c.For("", agent)
		s := got.Summarizer
		if err != nil || s.Backend != want.Backend || s.Model != want.Model || s.BaseURL != want.BaseURL || s.Instructions != want.Instructions || !slices.Equal(s.Sections, want.Sections) {
			t.Errorf("agent %q: %+v, %v", agent, s, err)
		}
	}
}
