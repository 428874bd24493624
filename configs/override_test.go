package configs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

const perModel = `policy: {trigger_pct: 0.8}
overrides:
  - model: "claude-*"
    agent: reviewer
    policy: {trigger_pct: 0.7, keep_recent_turns: 3}
    max_tool_result_tokens: 500
  - {agent: quiet, policy: {when: never}, mask: {keep_first: 0}}
`

func TestOverridesOfAFileHoldForTheirCalls(t *testing.T) {
	c := load(t, perModel)
	want := []compact.Override{
		{Model: "claude-*", Agent: "reviewer", Set: map[string]any{"policy.trigger_pct": 0.7, "policy.keep_recent_turns": 3, "truncate.max_tool_result_tokens": 500}},
		{Agent: "quiet", Set: map[string]any{"policy.when": "never", "mask.keep_first": 0}},
	}
	if diff := cmp.Diff(want, c.Overrides); diff != "" {
		t.Fatal(diff)
	}
	c.Storage.Adapter = "memory"
	c.Model, c.MaxContextTokens = "gpt-4o", 10_000
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	for agent, trigger := range map[string]int{"": 8000, "reviewer": 7000} {
		res, err := m.Plan(t.Context(), "s", []message.Message{message.User("hi")}, compact.WithModel("claude-sonnet-4"), compact.WithAgent(agent))
		if err != nil || res.Trigger != trigger {
			t.Errorf("agent %q: trigger %d, %v; want %d", agent, res.Trigger, err, trigger)
		}
	}
}

// Flags over environment over override over file over base over preset.
func TestOverrideRanksBetweenFileAndEnvironment(t *testing.T) {
	dir := folder(t, map[string]string{
		"base.yaml": "policy: {trigger_pct: 0.8}\noverrides: [{model: m, policy: {trigger_pct: 0.75, target_pct: 0.4}}]\n",
		"team.yaml": "extends: base.yaml\npolicy: {trigger_pct: 0.9}\noverrides: [{model: \"*\", policy: {target_pct: 0.3}}]\n",
	})
	for name, c := range map[string]struct {
		opts            []Option
		trigger, target float64
	}{
		"files":       {nil, 0.75, 0.3},
		"environment": {[]Option{Environ([]string{"COMPACT_TRIGGER_PCT=0.7"})}, 0.7, 0.3},
		"flag":        {[]Option{Environ([]string{"COMPACT_TRIGGER_PCT=0.7"}), Override("--t", "policy.trigger_pct", 0.65), Override("--g", "policy.target_pct", 0.35)}, 0.65, 0.35},
	} {
		got, err := loadFrom(t, dir, "team.yaml", c.opts...).For("m", "")
		if err != nil || got.Policy.TriggerPct != c.trigger || got.Policy.TargetPct != c.target {
			t.Errorf("%s: %v, %v, %v; want %v, %v", name, got.Policy.TriggerPct, got.Policy.TargetPct, err, c.trigger, c.target)
		}
	}
}

func TestMistakeInAnOverride(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"overrides: {model: x}", `f.yaml:1: overrides must be a list, such as [{model: "claude-*", policy: {trigger_pct: 0.7}}]`},
		{"overrides: [x]", `f.yaml:1: overrides[0] must hold a model, an agent or both, and settings (got "x")`},
		{"overrides:\n- model: x\n  policy: {trigger_pct: 1.7}", "f.yaml:3: overrides[0].policy.trigger_pct must be 0.0-1.0 (got 1.7)"},
		{"overrides:\n- model: x\n  policy:\n    trigger_pct: 0.5", "f.yaml:4: overrides[0].policy.target_pct must be below policy.trigger_pct 0.5 (got 0.6)"},
		{"overrides:\n- model: x\n  policy: {trigger_pct: high}", `f.yaml:3: overrides[0].policy.trigger_pct must be a number (got "high")`},
		{"overrides:\n- model: x\n  polcy: {trigger_pct: 0.7}", `f.yaml:3: unknown key "polcy" (did you mean policy?)`},
		{"overrides:\n- model: x\n  redaction: {enabled: false}", "f.yaml:3: overrides[0].redaction.enabled holds for all models and agents; an override may change max_context_tokens, max_output_tokens, max_request_bytes, policy, tidy, truncate, mask, summarizer"},
		{"overrides:\n- agnt: x\n  policy: {trigger_pct: 0.7}", `f.yaml:2: unknown key "agnt" (did you mean agent?)`},
		{"overrides:\n- model: x\n  extends: base.yaml", "f.yaml:3: extends is allowed at the top of a file, not in an override"},
		{"overrides:\n- model: {name: x}\n  policy: {trigger_pct: 0.7}", `f.yaml:2: overrides[0].model must be a name or a pattern, such as "claude-*"`},
		{"overrides:\n- policy: {trigger_pct: 0.7}", "f.yaml:2: overrides[0] applies to no call: set a model, an agent, or both"},
		{"overrides:\n- model: x", "f.yaml:2: overrides[0] changes nothing"},
		{"overrides:\n- model: x\n  max_tool_result_tokens: 0", "f.yaml:3: overrides[0].max_tool_result_tokens must be > 0, that is overrides[0].truncate.max_tool_result_tokens (got 0)"},
		{"overrides:\n- model: x\n  summarizer: {model: m}", "f.yaml:3: overrides[0].summarizer.backend openai needs the environment variable OPENAI_API_KEY"},
		{"overrides:\n- model: x\n  policy: {trigger_pct: 0.7, trigger_pct: 0.8}", "f.yaml:3: policy.trigger_pct is given twice, first in line 3"},
	} {
		got := mistakes(c.text + "\n")
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s\n%q\nwant %q", c.text, got, c.want)
		}
	}
	if got := mistakes("model: 3\npolicy: {keep_recent_turns: 0}\noverrides: [{model: x, storage: {path: y}}]\n"); len(got) != 3 || !strings.Contains(got[2], "overrides[0].storage.path") {
		t.Errorf("all mistakes at once: %q", got)
	}
	two := folder(t, map[string]string{
		"base.yaml": "overrides: [{model: a, policy: {trigger_pct: 0.7}}]\n",
		"team.yaml": "extends: base.yaml\noverrides: [{model: b, policy: {trigger_pct: 1.7}}]\n",
	})
	if diff := cmp.Diff([]string{"team.yaml:2: overrides[0].policy.trigger_pct must be 0.0-1.0 (got 1.7)"}, refused(t, two, "team.yaml")); diff != "" {
		t.Errorf("an override is numbered as in its own file:\n%s", diff)
	}
}

func TestOverrideMayNameItsOwnSummarizer(t *testing.T) {
	const text = `summarizer: {model: gpt-4o-mini}
overrides:
  - {agent: local, summarizer: {model: small, base_url: "http://localhost:1/v1"}}
  - {agent: none, summarizer: {backend: extractive}}
  - {agent: brief, summarizer: {max_tokens: 500}}
`
	c := load(t, text, Environ([]string{"OPENAI_API_KEY=" + strings.Repeat("k", 20)}))
	for agent, want := range map[string]string{"": "gpt-4o-mini", "local": "small", "none": "", "brief": "gpt-4o-mini"} {
		got, err := c.For("", agent)
		if err != nil {
			t.Fatal(err)
		}
		model := ""
		if d, ok := got.Summarize.(strategy.Describer); ok {
			model = d.Describe().Model
		}
		if model != want || got.Summarizer.Model != want || (want == "") != (got.Summarizer.Backend == "extractive") {
			t.Errorf("agent %q: asks %q, configured %q by %s; want %q", agent, model, got.Summarizer.Model, got.Summarizer.Backend, want)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("agent %q: %v", agent, err)
		}
	}
}

// A model of an override must not bring back a server for summaries that a higher layer has
// ruled out.
func TestNoModelOfAnOverrideOverrulesTheBackendOfAHigherLayer(t *testing.T) {
	const text = "overrides: [{agent: a, summarizer: {model: small, base_url: \"http://localhost:1/v1\"}}]\n"
	for name, opt := range map[string]Option{
		"environment": Environ([]string{"COMPACT_SUMMARIZER_BACKEND=extractive"}),
		"flag":        Override("--backend", "summarizer.backend", "extractive"),
	} {
		got, err := load(t, text, opt).For("", "a")
		if err != nil || got.Summarizer.Backend != "extractive" || got.Summarize != nil {
			t.Errorf("%s: summaries by %q (client %v), %v", name, got.Summarizer.Backend, got.Summarize, err)
		}
	}
}
