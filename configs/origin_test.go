package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachSettingNamesItsSource(t *testing.T) {
	dir := folder(t, map[string]string{
		"base.yaml": "preset: masking\nlocked: [redaction.enabled]\npolicy: {trigger_pct: 0.8, target_pct: 0.5}\n",
		"team.yaml": "extends: base.yaml\npolicy:\n  target_pct: 0.4\nmax_tool_result_tokens: 500\nredaction: {patterns: [hunter2]}\n" +
			"summarizer: {model: m, base_url: \"http://me:hunter2@h/v1\"}\n" +
			"overrides:\n- model: \"claude-*\"\n  agent: reviewer\n  policy: {keep_recent_turns: 3}\n",
	})
	_, all, err := LoadWithOrigins(filepath.Join(dir, "team.yaml"),
		Environ([]string{"COMPACT_KEEP_TOOL_IO_PAIRS=2"}), Override("--model", "model", "gpt-4o"), Override("--set storage.timeout", "storage.timeout", "90s"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range all {
		got[o.Path] = strings.ReplaceAll(fmt.Sprintf("%v %s %s", o.Value, o.From, o), dir+"/", "")
	}
	want := map[string]string{
		"policy.trigger_pct":                    "0.8 base base.yaml:3",
		"policy.target_pct":                     "0.4 file team.yaml:3",
		"policy.stages":                         "[mask] preset preset masking",
		"policy.hard_cap_buffer":                "1500 default default",
		"policy.keep_tool_io_pairs":             "2 environment COMPACT_KEEP_TOOL_IO_PAIRS",
		"model":                                 "gpt-4o flag --model",
		"storage.timeout":                       "1m30s flag --set storage.timeout",
		"truncate.max_tool_result_tokens":       "500 file team.yaml:4",
		"redaction.enabled":                     "true default default, locked by base.yaml:2",
		"storage.spool_keep":                    "24h default default",
		"summarizer.timeout":                    "1m default default",
		"redaction.patterns":                    "1, not shown file team.yaml:5",
		"summarizer.backend":                    "openai file team.yaml:6",
		"summarizer.base_url":                   "http://me:xxxxx@h/v1 file team.yaml:6",
		"preset":                                "masking base base.yaml:1",
		"overrides[0].policy.keep_recent_turns": "3 override team.yaml:10",
	}
	for path, w := range want {
		if diff := cmp.Diff(w, got[path]); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
	}
	if len(all) != len(schema().fields)+1 {
		t.Errorf("%d origins of %d settings and one of an override", len(all), len(schema().fields))
	}
	if last := all[len(all)-1]; last.Model != "claude-*" || last.Agent != "reviewer" {
		t.Errorf("%+v", last)
	}
}

func TestOriginsShowNoSecret(t *testing.T) {
	register(t, &storeSettings{})
	key := "sk-proj-" + strings.Repeat("a1B2c3D4", 6)
	dir := folder(t, map[string]string{
		"s3.yaml":    "storage: {prefix: " + key + ", adapter: s3, bucket: b-1}\n",
		"shelf.yaml": "storage: {adapter: shelf, shelf: {url: \"http://me:" + key + "@h\", zones: [near, " + key + "]}}\n",
	})
	for name, shows := range map[string]string{"s3.yaml": `"b-1"`, "shelf.yaml": `["near","`} {
		_, all, err := LoadWithOrigins(filepath.Join(dir, name), Environ([]string{"COMPACT_STORAGE_SHELF_TOKEN=" + key}))
		shown, bad := json.Marshal(all) // the method String shows no value
		if errors.Join(err, bad) != nil || strings.Contains(string(shown), key) || !strings.Contains(string(shown), shows) {
			t.Errorf("%s: %v, %v, %s", name, err, bad, shown)
		}
	}
	path := filepath.Join(dir, "none.yaml")
	if _, all, err := LoadWithOrigins(path, Environ(nil)); err == nil || all != nil {
		t.Error("a missing file returned no error, or origins")
	}
}
