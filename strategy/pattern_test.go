package strategy

import "testing"

func TestPatternsAreValid(t *testing.T) {
	if len(allPatterns) < 40 {
		t.Errorf("%d patterns", len(allPatterns))
	}
	for _, p := range allPatterns {
		p.compiled() // panics if the expression is not valid
	}
}
