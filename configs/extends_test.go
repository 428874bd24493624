package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
)

// folder writes files by name and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// refused returns the mistakes of a file in a folder, without the name of the
// folder.
func refused(t *testing.T, dir, name string, opts ...Option) []string {
	t.Helper()
	_, err := Load(filepath.Join(dir, name), append([]Option{Environ(nil)}, opts...)...)
	var all []string
	for _, e := range Mistakes(err) {
		all = append(all, strings.ReplaceAll(strings.ReplaceAll(e.Error(), dir+string(filepath.Separator), ""), dir, "DIR"))
	}
	return all
}

func loadFrom(t *testing.T, dir, name string, opts ...Option) compact.Config {
	t.Helper()
	c, err := Load(filepath.Join(dir, name), append([]Option{Environ(nil)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFileOverridesTheFilesThatItExtends(t *testing.T) {
	dir := folder(t, map[string]string{
		"company.yaml":          "preset: summarize\npolicy: {trigger_pct: 0.8, keep_recent_turns: 9}\nmask: {exclude_tools: [a, b]}\n",
		"teams/department.json": `{"extends": "../company.yaml", "policy": {"keep_recent_turns": 8}, "model": "gpt-4o"}`,
		"teams/team.yaml":       "extends: department.json\npolicy: {target_pct: 0.5}\nmask: {exclude_tools: [c]}\nobservationMasking: true\n",
	})
	c := loadFrom(t, dir, "teams/team.yaml")
	want := load(t, "preset: summarize\nmodel: gpt-4o\npolicy: {trigger_pct: 0.8, keep_recent_turns: 8, target_pct: 0.5, stages: [mask, summarize, shrink, squeeze]}\nmask: {exclude_tools: [c]}\n")
	if diff := cmp.Diff(want, c, sameConfig); diff != "" {
		t.Error(diff)
	}
	env := Environ([]string{"COMPACT_TRIGGER_PCT=0.7"})
	if c := loadFrom(t, dir, "teams/team.yaml", env); c.Policy.TriggerPct != 0.7 {
		t.Errorf("the environment must take precedence over all files: %v", c.Policy.TriggerPct)
	}
	full := filepath.Join(dir, "company.yaml")
	if c := load(t, "extends: "+full+"\n"); c.Preset != "summarize" {
		t.Errorf("an absolute name: preset %s", c.Preset)
	}
}

func TestMistakeInAChainOfFilesNamesItsFile(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"circle": {
			map[string]string{"f.yaml": "extends: b.yaml\n", "b.yaml": "extends: c/d.yaml\n", "c/d.yaml": "model: x\nextends: ../b.yaml\n"},
			[]string{"c/d.yaml:2: extends forms a cycle: b.yaml → c/d.yaml → b.yaml"},
		},
		"itself": {map[string]string{"f.yaml": "extends: ./f.yaml\n"}, []string{"f.yaml:1: extends forms a cycle: f.yaml → f.yaml"}},
		"no file": {
			map[string]string{"f.yaml": "model: x\nextends: bse.yaml\n"},
			[]string{"f.yaml:2: extends names bse.yaml, which can't be read: no such file or directory (the name is relative to the folder of this file)"},
		},
		"two files": {
			map[string]string{"f.yaml": "extends: b.yaml\npolicy: {target_pct: 0.9}\nmodle: x\n", "b.yaml": "policy:\n  keep_recent_turns: 0\n"},
			[]string{
				"b.yaml:2: policy.keep_recent_turns must be >= 1 (got 0)",
				"f.yaml:2: policy.target_pct must be below policy.trigger_pct 0.85 (got 0.9)",
				`f.yaml:3: unknown key "modle" (did you mean model?)`,
			},
		},
		"a folder":        {map[string]string{"f.yaml": "extends: .\n"}, []string{"f.yaml:1: extends names DIR, which can't be read: it is not a file (the name is relative to the folder of this file)"}},
		"of another type": {map[string]string{"f.yaml": "extends: [a.yaml, b.yaml]\n"}, []string{"f.yaml:1: extends must name a file, such as base.yaml"}},
		"twice":           {map[string]string{"f.yaml": "extends: a.yaml\nextends: b.yaml\n", "a.yaml": ""}, []string{"f.yaml:2: extends is given twice, first in line 1"}},
		"misspelled":      {map[string]string{"f.yaml": "extend: a.yaml\n"}, []string{`f.yaml:1: unknown key "extend" (did you mean extends?)`}},
		"in a section":    {map[string]string{"f.yaml": "policy: {extends: a.yaml}\n"}, []string{`f.yaml:1: unknown key "policy.extends" (did you mean extends?)`}},
	} {
		if diff := cmp.Diff(c.want, refused(t, folder(t, c.files), "f.yaml")); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestCycleIsFoundFromAnyFolder(t *testing.T) {
	dir := folder(t, map[string]string{"a/f.yaml": "extends: ../b/f.yaml\n", "b/f.yaml": "extends: ../a/f.yaml\n"})
	t.Chdir(filepath.Join(dir, "a"))
	if got := mistakesIn("f.yaml"); len(got) != 1 || !strings.HasSuffix(got[0], "extends forms a cycle: f.yaml → ../b/f.yaml → ../a/f.yaml") {
		t.Errorf("%q", got)
	}
}

func mistakesIn(name string) []string {
	_, err := Load(name, Environ(nil))
	var all []string
	for _, e := range Mistakes(err) {
		all = append(all, e.Error())
	}
	return all
}

func TestSymbolicLinkDoesNotHideACycle(t *testing.T) {
	dir := folder(t, map[string]string{"a.yaml": "extends: d/a.yaml\n"})
	if err := os.Symlink(".", filepath.Join(dir, "d")); err != nil {
		t.Skip(err)
	}
	if got := refused(t, dir, "a.yaml"); len(got) != 1 || !strings.Contains(got[0], "a cycle") {
		t.Errorf("%q", got)
	}
}

// The comments at the end of the presets' files must work as settings when they
// are uncommented.
func TestFootOfThePresetsIsCorrect(t *testing.T) {
	text, err := Preset("")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	shared := false
	for i, line := range lines {
		if shared = shared || strings.HasPrefix(line, "# These keys are not settings"); !shared {
			continue
		}
		for _, key := range append(specialKeys, "  -") {
			if strings.HasPrefix(line, "# "+key) && (key == "  -" || strings.HasPrefix(line, "# "+key+":")) {
				lines[i] = strings.TrimPrefix(line, "# ")
			}
		}
	}
	dir := folder(t, map[string]string{"company.yaml": "", "teams/f.yaml": strings.Join(lines, "\n")})
	c := loadFrom(t, dir, "teams/f.yaml")
	if len(c.Overrides) != 2 || c.Overrides[0].Set["policy.trigger_pct"] != 0.7 || c.Overrides[1].Set["policy.when"] != "never" {
		t.Errorf("%+v", c.Overrides)
	}
	if got := refused(t, dir, "teams/f.yaml", Override("--x", "redaction.enabled", false)); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
