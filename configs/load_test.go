package configs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
)

// load is Parse without the environment of the test.
func load(t *testing.T, text string, opts ...Option) compact.Config {
	t.Helper()
	c, err := Parse("f.yaml", []byte(text), append([]Option{Environ(nil)}, opts...)...)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return c
}

func mistakes(text string, opts ...Option) []string {
	_, err := Parse("f.yaml", []byte(text), append([]Option{Environ(nil)}, opts...)...)
	var all []string
	for _, e := range Mistakes(err) {
		all = append(all, e.Error())
	}
	return all
}

func TestEmptyFileIsTheDefaultPreset(t *testing.T) {
	want, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "{}", "policy:\n  # all comments\n", "\xef\xbb\xbfpreset: graduated\n"} {
		if diff := cmp.Diff(want, load(t, text), sameConfig); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestProgramOverridesEnvironmentFileAndPreset(t *testing.T) {
	const file = "policy: {trigger_pct: 0.8}\n"
	env := Environ([]string{"COMPACT_TRIGGER_PCT=0.75", "OTHER=1"})
	flag := Override("--trigger", "policy.trigger_pct", 0.7)
	for _, c := range []struct {
		name string
		got  compact.Config
		want float64
	}{
		{"preset", load(t, ""), 0.85},
		{"file", load(t, file), 0.8},
		{"environment", load(t, file, env), 0.75},
		{"program", load(t, file, env, flag), 0.7},
	} {
		if c.got.Policy.TriggerPct != c.want {
			t.Errorf("%s: trigger_pct %v, want %v", c.name, c.got.Policy.TriggerPct, c.want)
		}
	}
}

func TestHighestLayerNamesThePreset(t *testing.T) {
	const file = "preset: summarize\npolicy: {keep_recent_turns: 3}\n"
	env := Environ([]string{"COMPACT_PRESET=masking"})
	for _, c := range []struct {
		got  compact.Config
		want string
	}{
		{load(t, file), "summarize"},
		{load(t, file, env), "masking"},
		{load(t, file, env, Override("--preset", "preset", "gateway")), "gateway"},
	} {
		base, err := compact.Preset(c.want)
		if err != nil {
			t.Fatal(err)
		}
		base.Policy.KeepRecentTurns = 3
		if diff := cmp.Diff(base, c.got, sameConfig); diff != "" {
			t.Errorf("%s:\n%s", c.want, diff)
		}
	}
}

func TestZeroInAFileMeansZero(t *testing.T) {
	c := load(t, "policy: {hard_cap_buffer: 0, roles_never_prune: []}\nmask: {keep_first: 0}\nredaction: {summarizer: false}\n")
	if c.Policy.HardCapBuffer != 0 || c.Mask.KeepFirst != 0 || c.Redaction.Summarizer || len(c.Policy.RolesNeverPrune) != 0 {
		t.Errorf("zeros became defaults: %+v", c)
	}
	// It must survive New, which fills in missing fields of a Config.
	c.Storage.Adapter, c.Storage.Path = "memory", ""
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	res, err := m.Plan(t.Context(), "s", []message.Message{message.User("hi")}, compact.WithModel("gpt-4o"))
	if err != nil || res.Budget != res.MaxTokens {
		t.Errorf("budget %d of %d, %v: the buffer is not 0", res.Budget, res.MaxTokens, err)
	}
}

func TestListsReplaceEachOther(t *testing.T) {
	c := load(t, "policy: {stages: [mask, drop], roles_never_prune: [tool]}\n")
	if diff := cmp.Diff([]string{"mask", "drop"}, c.Policy.Stages); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]message.Role{message.RoleTool}, c.Policy.RolesNeverPrune); diff != "" {
		t.Error(diff)
	}
}

func TestJSONAndYAMLAreTheSameConfiguration(t *testing.T) {
	const yaml = "model: gpt-4o\nsummarizer:\n  timeout: 90s\nmask:\n  exclude_tools: [\"a\\u00e9\"]\n  template: \"😀 {chars}\"\npolicy: {target_pct: 5e-1}\n"
	const json = "{\n\t\"model\": \"gpt-4o\", \"summarizer\": {\"timeout\": \"1m30s\"},\n\t\"mask\": {\"exclude_tools\": [\"a\\u00e9\"], \"template\": \"\\ud83d\\ude00 {chars}\"},\n\t\"policy\": {\"target_pct\": 0.5}}"
	a, b := load(t, yaml), load(t, json)
	if diff := cmp.Diff(a, b, sameConfig); diff != "" {
		t.Error(diff)
	}
	if b.Summarizer.Timeout != 90*time.Second || b.Mask.Template != "😀 {chars}" {
		t.Errorf("%+v", b)
	}
}

func TestFileOnDiskIsLoadedByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(path, []byte("{\n \"policy\": {\"keep_recent_turns\": 0}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, Environ(nil))
	if want := path + ":2: policy.keep_recent_turns must be >= 1 (got 0)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err = Load(path+"x", Environ(nil)); !errors.Is(err, fs.ErrNotExist) || len(Mistakes(err)) != 1 {
		t.Errorf("a missing file: %v", err)
	}
	if c, err := Load("", Environ([]string{"COMPACT_MODEL=gpt-4"})); err != nil || c.Model != "gpt-4" {
		t.Errorf("no file: %q, %v", c.Model, err)
	}
}

func TestSummarizerModelOrServerChoosesTheBackend(t *testing.T) {
	key := Environ([]string{"OPENAI_API_KEY=" + strings.Repeat("k", 20)})
	if c := load(t, "summarizer: {model: gpt-4o-mini}\n", key); c.Summarizer.Backend != "openai" || c.Summarize == nil {
		t.Errorf("a model: backend %q, %v", c.Summarizer.Backend, c.Summarize)
	}
	if c := load(t, "summarizer: {model: m, base_url: \"http://localhost:1/v1\"}\n"); c.Summarizer.Backend != "openai" || c.Summarize == nil {
		t.Errorf("a server needs no key of OpenAI's: %q, %v", c.Summarizer.Backend, c.Summarize)
	}
	if got := mistakes("summarizer: {base_url: \"http://localhost:1/v1\"}\n"); len(got) != 1 || !strings.Contains(got[0], "summarizer.model must not be empty: the backend openai asks a model") {
		t.Errorf("a server alone: %q", got)
	}
	if c := load(t, "", key); c.Summarizer.Backend != "extractive" || c.Summarize != nil {
		t.Errorf("a key without a server selects the backend %q", c.Summarizer.Backend)
	}
	// A higher layer may overrule the model by setting only the backend.
	env := Environ([]string{"COMPACT_SUMMARIZER_BACKEND=extractive"})
	if c := load(t, "summarizer: {backend: openai, model: m}\n", env); c.Summarizer.Backend != "extractive" {
		t.Errorf("backend %q", c.Summarizer.Backend)
	}
}

func TestUnusableSummarizerIsAMistake(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"summarizer: {backend: openai}\n", "f.yaml:1: summarizer.model must not be empty: the backend openai asks a model"},
		{"summarizer: {model: m}\n", "summarizer.backend openai needs the environment variable OPENAI_API_KEY"},
		{
			"summarizer: {backend: extractive, model: m}\n",
			`f.yaml:1: summarizer.model has no effect with summarizer.backend extractive; set that to openai, or leave it out (got "m")`,
		},
	} {
		if diff := cmp.Diff([]string{c.want}, mistakes(c.text)); diff != "" {
			t.Errorf("%q:\n%s", c.text, diff)
		}
	}
	if got := mistakes("summarizer: {model: m}\n", KeysOptional()); got != nil {
		t.Errorf("keys are optional: %q", got)
	}
}

// Numbers of JSON may have an exponent, keys any escape, and the file a byte order mark.
func TestNumbersOfJSONAreRead(t *testing.T) {
	for text, want := range map[string]float64{`{"policy":{"trigger_pct":7e-1}}`: 0.7, `{"policy":{"trigger_pct":7E-1}}`: 0.7, `{"policy":{"trigger_pct":1}}`: 1, "\xef\xbb\xbf" + `{"policy":{"trigger_pct":0.8}}`: 0.8, `{"policy":{"trigger\u005fpct":0.75}}`: 0.75} {
		c, err := Parse("f.json", []byte(text), Environ(nil))
		if err != nil || c.Policy.TriggerPct != want {
			t.Errorf("%s: %v, %v", text, c.Policy.TriggerPct, err)
		}
	}
}
