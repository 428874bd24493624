package strategy

import (
	"testing"

	"github.com/agentcompact/compact/strategy/internal/checks"
)

// If a result replaces an earlier result, the failed runs before the earlier result are still
// counted: as runs of the same check, of a part of the new check, or of other checks.
func TestPastKeepsCountsOfReplacedResults(t *testing.T) {
	for _, c := range []struct {
		now  string
		want past
	}{
		{"go test ./a -run TestX", past{same: 2, narrower: 2, others: 3}},
		{"go test ./...", past{narrower: 4, others: 3}},
		{"go test ./b", past{others: 7}},
	} {
		old := &check{call: &Call{Outcome: Failed}, all: checks.Of("go test ./a -run TestX"), before: past{same: 1, narrower: 2, others: 3}}
		var got past
		got.add(old, &check{all: checks.Of(c.now)})
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.now, got, c.want)
		}
		if old.call.Outcome = OK; c.now == "go test ./..." {
			got = past{}
			if got.add(old, &check{all: checks.Of(c.now)}); got != (past{narrower: 3, others: 3}) {
				t.Errorf("%s after a pass: %+v", c.now, got)
			}
		}
	}
}
