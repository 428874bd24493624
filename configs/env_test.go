package configs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironmentByLeafAndByFullPath(t *testing.T) {
	for _, name := range []string{"COMPACT_TRIGGER_PCT", "COMPACT_POLICY_TRIGGER_PCT"} {
		if c := load(t, "", Environ([]string{name + "=0.7"})); c.Policy.TriggerPct != 0.7 {
			t.Errorf("%s: %v", name, c.Policy.TriggerPct)
		}
	}
	c := load(t, "", Environ([]string{
		"COMPACT_MODEL=gpt-4o", "COMPACT_MAX_CONTEXT_TOKENS=32000", "COMPACT_STRATEGY=brief", "COMPACT_ARIADNE_URL=http://127.0.0.1:5175",
		"COMPACT_ROLES_NEVER_PRUNE= system , ,tool,", "COMPACT_MASK_EXCLUDE_TOOLS=[\"a,b\"]", "COMPACT_SUMMARIZER_TIMEOUT=90s",
		"COMPACT_STORAGE_PATH=/tmp/x", "COMPACT_KEEP_RECENT_TURNS=2", "COMPACT_TARGET_PCT=", "COMPACT_OF_SOMEBODY_ELSE=1", "COMPACT_VECTORS=/v",
	}))
	if c.Model != "gpt-4o" || c.MaxContextTokens != 32000 || c.Policy.Strategy != "brief" || c.Trace.AriadneURL != "http://127.0.0.1:5175" ||
		len(c.Policy.RolesNeverPrune) != 2 || c.Mask.ExcludeTools[0] != "a,b" || c.Summarizer.Timeout != 90*time.Second ||
		c.Storage.Path != "/tmp/x" || c.Policy.KeepRecentTurns != 2 || c.Policy.TargetPct != 0.6 {
		t.Errorf("%+v", c)
	}
}

func TestUnusedVariables(t *testing.T) {
	register(t, &storeSettings{})
	got := Unused([]string{
		"COMPACT_ARCHIVE=/tmp/x", "COMPACT_CONFIG=c.yaml", "COMPACT_BUCKET=b", "COMPACT_OF_SOMEBODY_ELSE=1", "COMPACT_PATH=/tmp/x", "COMPACT_TIMEOUT=3s",
		"COMPACT_MODEL=gpt-4o", "COMPACT_TRIGGER_PCT=0.7", "COMPACT_ARCHIVE_KEY=k", "COMPACT_STORAGE_SHELF_TOKEN=k", "COMPACT_STORAGE_SHELF_URL=u", "COMPACT_WINDOW=", "PATH=/bin",
		"COMPACT_TRIGER_PCT=0.7", "COMPACT_POLICY_NO_SUCH=1", // Load refuses these
	})
	want := []Variable{
		{"COMPACT_ARCHIVE", "COMPACT_STORAGE_PATH"}, {"COMPACT_CONFIG", "--config"}, {"COMPACT_BUCKET", "COMPACT_STORAGE_BUCKET"},
		{"COMPACT_OF_SOMEBODY_ELSE", ""}, {"COMPACT_PATH", "COMPACT_STORAGE_PATH"}, {"COMPACT_TIMEOUT", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEverySettingHasAVariableOfItsOwn(t *testing.T) {
	known := variables()
	for _, f := range schema().fields {
		if known[variable(f.path)] != f.path {
			t.Errorf("%s sets %s, want %s", variable(f.path), known[variable(f.path)], f.path)
		}
	}
}

func TestRedactionIsSwitchedOffByItsFullPathAlone(t *testing.T) {
	for name, path := range variables() {
		if path == "redaction.enabled" && name != "COMPACT_REDACTION_ENABLED" {
			t.Errorf("%s switches redaction off", name)
		}
	}
	for _, env := range []string{"COMPACT_ENABLED=false", "COMPACT_REDACTION=false", "COMPACT_REDACT=false"} {
		c, err := Parse("", nil, Environ([]string{env}))
		if err == nil && !c.Redaction.Enabled {
			t.Errorf("%s switched redaction off, too", env)
		}
	}
	if c := load(t, "", Environ([]string{"COMPACT_REDACTION_ENABLED=false"})); c.Redaction.Enabled {
		t.Error("the full path does not switch redaction off")
	}
}

// TestListOfAVariableOrAFlag: a list may have the form of a file, the form of JSON, or
// commas as separators.
func TestListOfAVariableOrAFlag(t *testing.T) {
	for text, want := range map[string][]string{
		"mask,shrink": {"mask", "shrink"}, "[mask, shrink]": {"mask", "shrink"}, `["mask", 'shrink']`: {"mask", "shrink"}, `["mask"]`: {"mask"},
	} {
		if c := load(t, "", Override("--set policy.stages", "policy.stages", text)); !slices.Equal(c.Policy.Stages, want) {
			t.Errorf("--set %s: %q", text, c.Policy.Stages)
		}
		if c := load(t, "", Environ([]string{"COMPACT_POLICY_STAGES=" + text})); !slices.Equal(c.Policy.Stages, want) {
			t.Errorf("variable %s: %q", text, c.Policy.Stages)
		}
	}
	if c := load(t, "", Override("", "mask.exclude_tools", `["\ud83d\ude00"]`)); !slices.Equal(c.Mask.ExcludeTools, []string{"😀"}) {
		t.Errorf("JSON with a surrogate pair: %q", c.Mask.ExcludeTools)
	}
	for _, text := range []string{"[mask, 1]", "[mask", "[[mask]]", "[mask]x", "[a-z]+", "[mask][x]", "[mask] [x]", "[mask]\n--- [x]"} {
		want := []string{fmt.Sprintf("--set policy.stages: policy.stages must be a list of texts such as [a, b] (got %q)", text)}
		if diff := cmp.Diff(want, mistakes("", Override("--set policy.stages", "policy.stages", text))); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

func TestWrongVariableIsNamed(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"COMPACT_TRIGGER_PCT=1.7", "COMPACT_TRIGGER_PCT: policy.trigger_pct must be 0.0-1.0 (got 1.7)"},
		{"COMPACT_TRIGGER_PCT=high", `COMPACT_TRIGGER_PCT: policy.trigger_pct must be a number (got "high")`},
		{"COMPACT_TARGET_PCT=NaN", `COMPACT_TARGET_PCT: policy.target_pct must be a number (got "NaN")`},
		{"COMPACT_MAX_CONTEXT_TOKENS=32k", `COMPACT_MAX_CONTEXT_TOKENS: max_context_tokens must be a whole number (got "32k"; write 32000)`},
		{"COMPACT_MASK_EXCLUDE_TOOLS=[a", `COMPACT_MASK_EXCLUDE_TOOLS: mask.exclude_tools must be a list of texts such as [a, b] (got "[a")`},
		{"COMPACT_TRIGER_PCT=0.5", "COMPACT_TRIGER_PCT: is not a setting (did you mean COMPACT_TRIGGER_PCT?)"},
		{"COMPACT_POLICY_FANCY=1", "COMPACT_POLICY_FANCY: is not a setting"},
		{"COMPACT_PRESET=x", `COMPACT_PRESET: preset must be one of graduated, economy, summarize, masking, history-reducer, gateway (got "x")`},
		{"COMPACT_POLICY_STRATEGY=brief COMPACT_STRATEGY=brief", "COMPACT_STRATEGY: policy.strategy is set twice, also by COMPACT_POLICY_STRATEGY"},
	} {
		if diff := cmp.Diff([]string{c.want}, mistakes("", Environ(strings.Fields(c.env)))); diff != "" {
			t.Errorf("%s:\n%s", c.env, diff)
		}
	}
}

func TestWrongOverrideIsReportedByItsSource(t *testing.T) {
	for _, c := range []struct {
		option Option
		want   string
	}{
		{Override("--max-context-tokens", "max_context_tokens", -1), "--max-context-tokens: max_context_tokens must be >= 0 (got -1)"},
		{Override("--model", "model", 3), "--model: model must be a text (got 3)"},
		{Override("--x", "polcy", 3), `--x: unknown key "polcy" (did you mean policy?)`},
		{Override("--x", "mask", struct{}{}), "--x: mask is a section, not a setting"},
		{Override("--x", "mask.template", struct{}{}), "--x: mask.template must be a text (got {})"},
	} {
		if diff := cmp.Diff([]string{c.want}, mistakes("", c.option)); diff != "" {
			t.Error(diff)
		}
	}
	c := load(t, "", Override("", "policy.trigger_pct", 1), Override("", "summarizer.timeout", time.Minute), Override("", "redaction.pii", true),
		Override("", "mask.exclude_tools", []string{"a"}), Override("", "max_context_tokens", "9000"))
	if c.Policy.TriggerPct != 1 || c.Summarizer.Timeout != time.Minute || !c.Redaction.PII || len(c.Mask.ExcludeTools) != 1 || c.MaxContextTokens != 9000 {
		t.Errorf("%+v", c)
	}
}
