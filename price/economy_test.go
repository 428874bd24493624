package price

import (
	"math"
	"testing"
)

// stocked returns a session in which most candidates pay.
func stocked() Stock {
	return Stock{Tokens: 60_000, Growth: 1500, Horizon: 100, Step: 6000, Raw: 5, Overrun: 0.05}
}

func TestJudgeUsesTheEconomicOrderQuantity(t *testing.T) {
	c := card(t, "claude-sonnet-4-5")
	s, x := stocked(), Candidate{Level: 20_000, Prefix: 5000}
	v := c.Judge(s, x)
	fixed := 15_000 * (3.75 - 0.3) / 1e6
	if math.Abs(v.Fixed-fixed) > 1e-12 {
		t.Errorf("F = %v, want %v", v.Fixed, fixed)
	}
	due := 20_000 + math.Sqrt(2*1500*fixed/0.3e-6)
	if math.Abs(v.Due-due) > 1e-6 || !v.Pays || !v.Safe || !v.Chosen(s) {
		t.Errorf("%+v, want it due at %v", v, due)
	}
	// No other interval costs less in a sum over single calls.
	mean := func(calls int) float64 {
		sum := fixed
		for i := range calls {
			sum += 0.3e-6 * (20_000 + (float64(i)+0.5)*1500)
		}
		return sum / float64(calls)
	}
	best := 1
	for n := 1; n < 200; n++ {
		if mean(n) < mean(best) {
			best = n
		}
	}
	if got := (v.Due - 20_000) / 1500; math.Abs(got-float64(best)) > 1 {
		t.Errorf("due after %.1f calls; %d cost least", got, best)
	}
	if got := mean(best); math.Abs(v.PerCall-got) > 0.01*got {
		t.Errorf("a call costs %v by the formula, %v call by call", v.PerCall, got)
	}
}

func TestJudgeRespectsTheMinimumStep(t *testing.T) {
	c := card(t, "gpt-4") // caches nothing: F is 0, and each call would compact
	s := stocked()
	v := c.Judge(s, Candidate{Level: 50_000, Prefix: 1000})
	if v.Fixed != 0 || v.Due != 56_000 {
		t.Errorf("%+v, want it due at 56,000", v)
	}
	s.Tokens = 55_999
	if c.Judge(s, Candidate{Level: 50_000}).Chosen(s) {
		t.Error("a candidate was chosen below the least step")
	}
}

func TestJudgeRefusesACandidateThatDoesNotPay(t *testing.T) {
	c := card(t, "claude-sonnet-4-5")
	for name, change := range map[string]func(*Stock, *Candidate){
		"the cut removes nothing":      func(_ *Stock, x *Candidate) { x.Level = 60_000 },
		"the session ends too soon":    func(s *Stock, _ *Candidate) { s.Horizon = 2 },
		"recalls cost more":            func(_ *Stock, x *Candidate) { x.Recalls = 10 },
		"the summary costs more":       func(_ *Stock, x *Candidate) { x.Reading = 10 },
		"the session has cost nothing": func(s *Stock, _ *Candidate) { s.Raw = 0.3 },
		"no overrun is allowed":        func(s *Stock, _ *Candidate) { s.Overrun = 0 },
		"the session is still small":   func(s *Stock, _ *Candidate) { s.Tokens = 30_000 },
	} {
		s, x := stocked(), Candidate{Level: 20_000, Prefix: 5000}
		if v := c.Judge(s, x); !v.Chosen(s) {
			t.Fatalf("%+v", v)
		}
		change(&s, &x)
		if v := c.Judge(s, x); v.Chosen(s) {
			t.Errorf("%s: the candidate was chosen: %+v", name, v)
		}
	}
	free := c
	free.CacheRead = 0
	if s := stocked(); free.Judge(s, Candidate{Level: 20_000}).Chosen(s) {
		t.Error("a candidate was chosen although reading is free")
	}
}

func TestRecallWeightAffectsOnlyTheChoice(t *testing.T) {
	c := card(t, "claude-sonnet-4-5")
	s, x := stocked(), Candidate{Level: 20_000, Prefix: 5000, Recalls: 0.1, Weight: 1}
	once := c.Judge(s, x)
	x.Weight = 10
	ten := c.Judge(s, x)
	if ten.PerCall <= once.PerCall || ten.Pays != once.Pays || ten.Linear != once.Linear {
		t.Errorf("once %+v, ten times %+v", once, ten)
	}
}

// If the cache is cold, the whole prompt is written in any case.
func TestAColdCacheIsNearlyFree(t *testing.T) {
	c := card(t, "claude-sonnet-4-5")
	s, x := stocked(), Candidate{Level: 45_000, Prefix: 5000}
	if v := c.Judge(s, x); v.Chosen(s) {
		t.Fatalf("chosen while the cache is warm: %+v", v)
	}
	s.Cold = true
	v := c.Judge(s, x)
	if v.Fixed != 0 || !v.Chosen(s) || v.Overrun >= 0 {
		t.Errorf("%+v", v)
	}
	s.Tokens = x.Level + int(s.Step) - 1
	if c.Judge(s, x).Chosen(s) {
		t.Error("a candidate was chosen below the least step")
	}
}
