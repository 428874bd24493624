package policy

import "testing"

func TestDecisionsOfLedgersAreReadInTheirOldSpellingToo(t *testing.T) {
	for d := Kept; d <= Dropped; d++ {
		if got := parseDecision(d.String()); got != d {
			t.Errorf("%s is read as %s", d, got)
		}
	}
	if got := parseDecision("summarised"); got != Summarized {
		t.Errorf("summarised is read as %s", got)
	}
}
