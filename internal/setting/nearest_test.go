package setting

import (
	"strings"
	"testing"
)

func TestNearestFindsTheIntendedName(t *testing.T) {
	known := []string{"policy", "policy.trigger_pct", "policy.target_pct", "mask.when", "truncate.when"}
	for name, want := range map[string]string{
		"polciy": "policy", "policy.triger_pct": "policy.trigger_pct", "trigger_pct": "policy.trigger_pct",
		"when": "", "zzz": "", "": "", strings.Repeat("x", 1000): "", "POLICY": "policy",
		"policy.trigger": "policy.trigger_pct", "policy.t": "", "trigger": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("nearest(%.20q) = %q, want %q", name, got, want)
		}
	}
}
