package configs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const company = `locked:
  - redaction
  - storage
  - summarizer.backend
  - policy.stages
redaction: {patterns: [EMP-\d+]}
storage: {path: /srv/archive, object_lock: {days: 0}}
`

func TestLockedSettingIsNotWeakened(t *testing.T) {
	for name, c := range map[string]struct {
		team string
		opts []Option
		want []string
	}{
		"nothing":                               {"policy: {trigger_pct: 0.7}\n", nil, nil},
		"the same":                              {"redaction: {enabled: true}\nstorage: {adapter: fs, path: /srv/archive}\n", nil, nil},
		"stricter":                              {"redaction: {pii: true, patterns: [EMP-\\d+, CUST-\\d+]}\nstorage: {transcripts: all}\n", nil, nil},
		"a file":                                {"model: x\nredaction:\n  enabled: false\n", nil, []string{"team.yaml:4: redaction.enabled is locked at true by base.yaml:2; leave it out here, or make it stricter (got false)"}},
		"the environment":                       {"", []Option{Environ([]string{"COMPACT_REDACTION_ENABLED=false"})}, []string{"COMPACT_REDACTION_ENABLED: redaction.enabled is locked at true by base.yaml:2; leave it out here, or make it stricter (got false)"}},
		"a flag":                                {"", []Option{Override("--archive", "storage.path", "/tmp/x")}, []string{`--archive: storage.path is locked at "/srv/archive" by base.yaml:3; leave it out here, or change it there (got "/tmp/x")`}},
		"one of several":                        {"", []Option{Override("--set redaction.summarizer", "redaction.summarizer", "false")}, []string{"--set redaction.summarizer: redaction.summarizer is locked at true by base.yaml:2; leave it out here, or make it stricter (got false)"}},
		"fewer patterns":                        {"redaction: {patterns: []}\n", nil, []string{"team.yaml:2: redaction.patterns is locked at [EMP-\\d+] by base.yaml:2; leave it out here, or make it stricter (got [])"}},
		"on_error: continue":                    {"storage: {on_error: continue}\n", nil, []string{`team.yaml:2: storage.on_error is locked at "fail" by base.yaml:3; leave it out here, or make it stricter (got "continue")`}},
		"another preset":                        {"preset: masking\n", nil, []string{`team.yaml:2: preset would change policy.stages, which is locked at [truncate, mask, summarize, shrink, squeeze] by base.yaml:5; leave it out here, or change it there (got "masking")`}},
		"preset by a flag":                      {"", []Option{Override("--preset", "preset", "gateway")}, []string{`--preset: preset would change policy.stages, which is locked at [truncate, mask, summarize, shrink, squeeze] by base.yaml:5; leave it out here, or change it there (got "gateway")`}},
		"by an old name":                        {"observationMasking: false\n", nil, []string{"team.yaml:2: observationMasking is locked at [truncate, mask, summarize, shrink, squeeze] by base.yaml:5; leave it out here, or change it there (got [truncate summarize shrink squeeze])"}},
		"a model for summaries":                 {"summarizer: {model: m, base_url: \"http://h/v1\"}\n", nil, []string{`team.yaml:2: summarizer.base_url would change summarizer.backend, which is locked at "extractive" by base.yaml:4; leave it out here, or change it there (got "http://h/v1")`}},
		"an override":                           {"overrides: [{agent: a, policy: {stages: [mask]}}]\n", nil, []string{"team.yaml:2: overrides[0].policy.stages is locked at [truncate, mask, summarize, shrink, squeeze] by base.yaml:5; leave it out here, or change it there (got [mask])"}},
		"a lock in the last file locks nothing": {"locked: [model]\nmodel: gpt-4o\n", nil, nil},
	} {
		dir := folder(t, map[string]string{"base.yaml": company, "team.yaml": "extends: base.yaml\n" + c.team})
		if diff := cmp.Diff(c.want, refused(t, dir, "team.yaml", c.opts...)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// A retention may become longer but not shorter, and its mode stricter.
func TestLockedHoldOnlyGrows(t *testing.T) {
	const base = "storage: {adapter: s3, bucket: b-1, object_lock: {mode: governance, days: 365}}\nlocked: [storage.object_lock]\n"
	for team, ok := range map[string]bool{
		"storage: {object_lock: {days: 366}}\n":         true,
		"storage: {object_lock: {mode: compliance}}\n":  true,
		"storage: {object_lock: {days: 364}}\n":         false,
		"storage: {object_lock: {mode: \"\"}}\n":        false,
		"storage: {prefix: teams/seven}\n":              true,
		"storage: {object_lock: {days: 365}, spool: s}": true,
	} {
		dir := folder(t, map[string]string{"base.yaml": base, "team.yaml": "extends: base.yaml\n" + team})
		if got := refused(t, dir, "team.yaml"); (len(got) == 0) != ok {
			t.Errorf("%s: %q", team, got)
		}
	}
}

func TestLockHoldsOverSeveralFilesAndTheFirstLockCounts(t *testing.T) {
	dir := folder(t, map[string]string{
		"base.yaml": "locked: [redaction.enabled, policy.keep_recent_turns]\n",
		"mid.yaml":  "extends: base.yaml\nlocked: [redaction.pii, redaction.enabled]\nredaction: {pii: true}\n",
		"team.yaml": "extends: mid.yaml\nredaction: {enabled: false, pii: false}\npolicy: {keep_recent_turns: 7}\n",
	})
	want := []string{
		"team.yaml:2: redaction.enabled is locked at true by base.yaml:1; leave it out here, or make it stricter (got false)",
		"team.yaml:2: redaction.pii is locked at true by mid.yaml:2; leave it out here, or make it stricter (got false)",
		"team.yaml:3: policy.keep_recent_turns is locked at 6 by base.yaml:1; leave it out here, or change it there (got 7)",
	}
	if diff := cmp.Diff(want, refused(t, dir, "team.yaml")); diff != "" {
		t.Error(diff)
	}
	excepted := folder(t, map[string]string{"base.yaml": "locked: [policy]\noverrides: [{agent: a, policy: {trigger_pct: 0.7}}]\n", "team.yaml": "extends: base.yaml\n"})
	if got := refused(t, excepted, "team.yaml"); got != nil {
		t.Errorf("a file may override a setting that it locks: %q", got)
	}
	ofPreset := folder(t, map[string]string{
		"base.yaml": "preset: masking\n", "mid.yaml": "extends: base.yaml\npreset: graduated\nlocked: [policy.stages]\n", "team.yaml": "extends: mid.yaml\n",
	})
	if got := refused(t, ofPreset, "team.yaml"); got != nil {
		t.Errorf("a lock has the value of the preset that its own file names: %q", got)
	}
	own := folder(t, map[string]string{"f.yaml": "locked: [redaction]\nredaction: {enabled: false}\n"})
	if got := refused(t, own, "f.yaml"); got != nil {
		t.Errorf("a file may set a setting that it locks: %q", got)
	}
	if got := refused(t, own, "f.yaml", Environ([]string{"COMPACT_REDACTION_PII=true"})); got != nil {
		t.Errorf("stricter: %q", got)
	}
}

func TestMistakeInALock(t *testing.T) {
	for text, want := range map[string]string{
		"locked: redaction\n":         `f.yaml:1: locked must be a list of settings or sections, such as [redaction, storage] (got "redaction")`,
		"locked: [redction]\n":        `f.yaml:1: locked[0] names the unknown key "redction" (did you mean redaction?)`,
		"locked: [model, 3]\n":        "f.yaml:1: locked[1] must be a setting or a section (got 3)",
		"locked: [redaction, {a: b}]": "f.yaml:1: locked[1] must be a setting or a section",
	} {
		if diff := cmp.Diff([]string{want}, mistakes(text)); diff != "" {
			t.Errorf("%s%s", text, diff)
		}
	}
}

// Each setting with an order may become stricter, and not weaker. A setting is listed with
// its values, the weakest first.
func TestEveryOrderBelongsToASetting(t *testing.T) {
	off := []any{false, true}
	listed := map[string][]any{
		"redaction.enabled": off, "redaction.strict": off, "redaction.pii": off, "redaction.pseudonyms": off, "redaction.summarizer": off, "storage.access_log": off,
		"redaction.patterns": {[]string{}, []string{"a"}, []string{"b", "a"}}, "policy.roles_never_prune": {[]string{"system"}, []string{"user", "system"}},
		"storage.on_error": {"continue", "fail"}, "storage.erased": {"new", "refuse"}, "storage.transcripts": {"compactions", "all"},
		"storage.object_lock.mode": {"", "governance", "compliance"}, "storage.object_lock.days": {0, 1, 365},
	}
	for path, values := range listed {
		if _, ok := schema().byPath[path]; !ok {
			t.Errorf("there is no %s", path)
		}
		for i, locked := range values {
			for k, given := range values {
				if got := isWeaker(path, locked, given); got != (k < i) {
					t.Errorf("%s, locked at %v: %v is weaker: %v", path, locked, given, got)
				}
			}
		}
	}
	for path := range stricter {
		if listed[path] == nil {
			t.Errorf("the values of %s are not listed here", path)
		}
	}
}
