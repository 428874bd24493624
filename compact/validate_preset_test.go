package compact_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/memory"
)

// TestUnknownPresetHidesNoOtherMistake: each mistake is reported, and no
// contradiction with the default preset.
func TestUnknownPresetHidesNoOtherMistake(t *testing.T) {
	whole, err := compact.Preset("masking")
	if err != nil {
		t.Fatal(err)
	}
	whole.Preset, whole.MaxContextTokens, whole.Policy.TriggerPct = "econmy", -5, 1.7
	changed := compact.Config{Preset: "econmy", MaxContextTokens: -5, Archive: memory.New(), Overrides: []compact.Override{override("", "a", "policy.triger_pct", 0.7)}}
	changed.Policy.TriggerPct, changed.Policy.TargetPct = 1.7, 0.99
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"of a preset": {whole.Validate(), []string{"preset ", "max_context_tokens ", "policy.trigger_pct "}},
		"in Go":       {changed.Validate(), []string{"preset ", "max_context_tokens ", "policy.trigger_pct ", "overrides[0].policy.triger_pct "}},
		"New":         {newError(t, changed), []string{"preset ", "max_context_tokens ", "policy.trigger_pct ", "overrides[0].policy.triger_pct "}},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		lines := strings.Split(c.err.Error(), "\n")
		if len(lines) != len(c.want) {
			t.Errorf("%s: %q, want %q", name, lines, c.want)
			continue
		}
		for i, line := range lines {
			if !strings.HasPrefix(line, c.want[i]) {
				t.Errorf("%s: %q, want %q", name, line, c.want[i])
			}
		}
	}
}

func newError(t *testing.T, c compact.Config) error {
	t.Helper()
	_, err := compact.New(t.Context(), c)
	return err
}

// Both folders of a storage are checked, also those beside a bucket.
func TestFoldersOfTheStorageAreChecked(t *testing.T) {
	for _, setting := range []string{"storage.path", "storage.spool"} {
		c := compact.Config{Model: "gpt-4o", MaxContextTokens: 100_000}
		c.Storage.Adapter, c.Storage.Bucket = "s3", "b"
		*map[string]*string{"storage.path": &c.Storage.Path, "storage.spool": &c.Storage.Spool}[setting] = "s3://b/c"
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), setting+" is a folder") {
			t.Errorf("%s: %v, want an error", setting, err)
		}
	}
}
