package configs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
)

func TestGatewayOptionsEqualItsSettings(t *testing.T) {
	const source = `preset: gateway
model:
  name: gpt-4o
  max_input_tokens: 100000
  max_output_tokens: 4000
session:
  context:
    max_tool_result_tokens: 7000
    tool_result_truncation: both
    tool_result_keep_first: 3
    tool_result_keep_last: 6
    max_history_tokens: 9000
`
	const ours = `preset: gateway
model: gpt-4o
max_context_tokens: 100000
max_output_tokens: 4000
truncate: {max_tool_result_tokens: 7000, keep: both}
mask: {keep_first: 3, keep_last: 6}
policy: {max_history_tokens: 9000}
`
	if diff := cmp.Diff(load(t, ours), load(t, source), sameConfig); diff != "" {
		t.Error(diff)
	}
	// Without their sections, and in other presets, they mean the same.
	if c := load(t, "max_tool_result_tokens: 7000\ntool_result_truncation: tail\n"); c.Truncate.MaxToolResultTokens != 7000 || c.Truncate.Keep != "tail" {
		t.Errorf("%+v", c.Truncate)
	}
}

func TestHistoryReducerOptionsEqualItsSettings(t *testing.T) {
	const source = `{"preset": "history-reducer", "maxInputChars": 50000, "maxObservationChars": 90, "summaryMaxChars": 1200, "preserveRecentRawTurns": 6}`
	const ours = "preset: history-reducer\nmax_context_tokens: 50000\nmask: {max_observation_chars: 90}\nsummarizer: {max_tokens: 1200}\npolicy: {keep_recent_messages: 6}\n"
	if diff := cmp.Diff(load(t, ours), load(t, source), sameConfig); diff != "" {
		t.Error(diff)
	}
	off := load(t, "preset: history-reducer\nobservationMasking: false\n")
	if slices.Contains(off.Policy.Stages, "mask") {
		t.Errorf("stages %v", off.Policy.Stages)
	}
	on := load(t, "preset: history-reducer\nobservationMasking: true\n")
	if diff := cmp.Diff(load(t, "preset: history-reducer\n"), on, sameConfig); diff != "" {
		t.Errorf("masking is on by default, so true changes nothing:\n%s", diff)
	}
	if c := load(t, "preset: summarize\nobservationMasking: true\n"); c.Policy.Stages[0] != "mask" {
		t.Errorf("stages %v", c.Policy.Stages)
	}
}

// Spellings of names from versions before 0.1 keep their meaning in every source.
func TestOldSpellingsOfNamesAreAccepted(t *testing.T) {
	want := []string{"mask", "summarize", "squeeze"}
	const old = "mask, summarise, squeeze"
	for name, c := range map[string]compact.Config{
		"file":        load(t, "policy: {stages: ["+old+"]}\n"),
		"environment": load(t, "", Environ([]string{"COMPACT_POLICY_STAGES=" + old})),
		"program":     load(t, "", Override("test", "policy.stages", old)),
	} {
		if !slices.Equal(c.Policy.Stages, want) {
			t.Errorf("%s: stages %v, want %v", name, c.Policy.Stages, want)
		}
	}
	given := []string{"summarise"}
	if asSpelled("policy.stages", given); given[0] != "summarise" {
		t.Errorf("the caller's list was changed: %v", given)
	}
}

// The option blocks in the form that the source systems document and write.
func TestOptionBlocksOfOtherSystemsLoad(t *testing.T) {
	for name, c := range map[string]struct{ block, ours string }{
		"gateway, model": {
			"model:\n  provider: anthropic\n  name: claude-sonnet-4-20250514\n  max_input_tokens: 150000   # optional, see defaults below\n  max_output_tokens: 8192\n",
			"model: claude-sonnet-4-20250514\nmax_context_tokens: 150000\nmax_output_tokens: 8192\n",
		},
		"gateway, session": {
			"session:\n  on_disconnect: pause\n  max_tool_iterations: 25\n  context:\n    max_history_tokens: 20000\n    max_tool_result_tokens: 8000\n" +
				"    tool_result_truncation: head\n    tool_result_keep_first: 2\n    tool_result_keep_last: 5\n",
			"policy: {max_history_tokens: 20000}\ntruncate: {max_tool_result_tokens: 8000, keep: head}\nmask: {keep_first: 2, keep_last: 5}\n",
		},
		"gateway, no caps": {
			"session: {context: {max_history_tokens: 0, tool_result_truncation: tail, tool_result_keep_first: 0, tool_result_keep_last: 0}}\n",
			"policy: {max_history_tokens: 0}\ntruncate: {keep: tail}\nmask: {keep_first: 0, keep_last: 0}\n",
		},
		"history reducer": {
			`{"enabled": true, "maxInputChars": 12000, "preserveRecentRawTurns": 4, "summaryMaxChars": 1200}`,
			"preset: history-reducer\nmax_context_tokens: 12000\npolicy: {keep_recent_messages: 4}\nsummarizer: {max_tokens: 1200}\n",
		},
		"history reducer, switched off": {
			"enabled: false\nmaxInputChars: 12000\npreserveRecentRawTurns: 4\nobservationMasking: true\nmaxObservationChars: 80\n",
			"preset: history-reducer\nmax_context_tokens: 12000\npolicy: {keep_recent_messages: 4, when: never}\nmask: {max_observation_chars: 80}\n",
		},
		"history reducer, in its program": {
			"historyReducer:\n  enabled: true\n  maxInputChars: 12000\n  preserveRecentRawTurns: 4\n  observationMasking: false\n",
			"preset: history-reducer\nmax_context_tokens: 12000\npolicy: {keep_recent_messages: 4, stages: [local, fallback, squeeze]}\n",
		},
		"masking as a block": {
			"preset: history-reducer\nobservationMasking:\n  enabled: false\n  maxObservationChars: 80\n",
			"preset: history-reducer\npolicy: {stages: [local, fallback, squeeze]}\nmask: {max_observation_chars: 80}\n",
		},
		"masking as a block, in the default preset": {"observationMasking: {enabled: true}\n", ""},
	} {
		if diff := cmp.Diff(load(t, c.ours), load(t, c.block), sameConfig); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestBlockThatIsSwitchedOffCompactsNothing(t *testing.T) {
	c := load(t, `{"enabled": false, "maxInputChars": 2000}`)
	c.Storage.Adapter = "memory"
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	history := []message.Message{message.User(strings.Repeat("long ", 2000)), message.Assistant("yes"), message.User("and?")}
	res, err := m.Preflight(t.Context(), "s", history)
	if err != nil || res.Triggered || len(res.Messages) != len(history) {
		t.Errorf("%d of %d messages, %v", len(res.Messages), len(history), err)
	}
}

func TestAliasThatContradictsItsSettingIsAnError(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{
			"truncate: {max_tool_result_tokens: 5}\nmax_tool_result_tokens: 5",
			"f.yaml:2: max_tool_result_tokens has the same meaning as truncate.max_tool_result_tokens in line 1; set one of them",
		},
		{
			"max_tool_result_tokens: 5\nsession: {context: {max_tool_result_tokens: 6}}",
			"f.yaml:2: session.context.max_tool_result_tokens has the same meaning as max_tool_result_tokens in line 1; set one of them",
		},
		{"observationMasking: true\npolicy: {stages: [mask]}", "f.yaml:2: policy.stages has the same meaning as observationMasking in line 1; set one of them"},
		{"max_tool_result_tokens: 0", "f.yaml:1: max_tool_result_tokens must be > 0, that is truncate.max_tool_result_tokens (got 0)"},
		{"preset: gateway\nmaxInputChars: 5000", "f.yaml:2: maxInputChars belongs to the preset history-reducer; other presets use max_context_tokens, in tokens"},
		{"preset: masking\npreserveRecentRawTurns: 4", "f.yaml:2: preserveRecentRawTurns belongs to the preset history-reducer; other presets use policy.keep_recent_messages"},
		{"observationMasking: 1", "f.yaml:1: observationMasking must be true or false (got 1)"},
		{"session: {context: {max_histroy: 1}}", `f.yaml:1: unknown key "session.context.max_histroy"`},
		{"model: {temperature: 1}", `f.yaml:1: unknown key "model.temperature"`},
	} {
		if diff := cmp.Diff([]string{c.want}, mistakes(c.text+"\n")); diff != "" {
			t.Errorf("%s\n%s", c.text, diff)
		}
	}
}

func TestEveryAliasNamesASetting(t *testing.T) {
	for name, a := range aliases {
		if _, ok := schema().byPath[a.path]; !ok {
			t.Errorf("%s stands for %s, which does not exist", name, a.path)
		}
		if _, both := schema().byPath[name]; both {
			t.Errorf("%s is a setting and an alias", name)
		}
		if a.preset != "" && !slices.Contains(Names(), a.preset) {
			t.Errorf("%s belongs to %q", name, a.preset)
		}
	}
}

func TestEveryAliasIsDocumented(t *testing.T) {
	data, err := os.ReadFile("../docs/COMPATIBILITY.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (`.*`) \\| `([a-z_.]+)`(.*) \\| (any|`[a-z-]+`) \\|$")
	listed := map[string]alias{}
	for _, m := range row.FindAllStringSubmatch(string(data), -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			a := alias{path: m[2]}
			if m[4] != "any" {
				a.preset = strings.Trim(m[4], "`")
			}
			listed[strings.Trim(name, "`")] = a
		}
	}
	for name, a := range aliases {
		if l, ok := listed[name]; !ok || l.path != a.path || l.preset != a.preset {
			t.Errorf("%s: documented as %q in the preset %q, but the alias is %q in %q", name, l.path, l.preset, a.path, a.preset)
		}
	}
	if len(listed) != len(aliases) {
		t.Errorf("%d aliases are documented, but the code has %d", len(listed), len(aliases))
	}
}
