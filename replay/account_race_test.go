package replay

import "testing"

func TestLostRaceDoesNotCountAsAFallback(t *testing.T) {
	a := &Account{Errors: []AccountProblem{
		{Type: "CommitLost", Fallback: "next number"},
		{Type: "SummarizerRefused", Fallback: "extractive"},
		{Type: "InsufficientBudget", Fallback: "none"},
		{Type: "ArchiveChanged"},
	}}
	if s := a.stats(Filter{}); s.Fallbacks != 1 {
		t.Errorf("%d fallbacks, want the one of the summarizer", s.Fallbacks)
	}
	for i, want := range []bool{true, true, false, false} {
		if e := &a.Errors[i]; e.GotOver() != want {
			t.Errorf("%s with fallback %q: recovered %t", e.Type, e.Fallback, !want)
		}
	}
}
