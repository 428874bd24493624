package price

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

// valid returns a card with a different price for each kind of token.
func valid() Card {
	return Card{Model: "m", Input: 2, CacheRead: 0.5, CacheWrite: 2.5, CacheWriteHour: 4, Output: 10, MinPrefix: 1024, Granularity: 128, Lifetime: time.Minute, Marks: 4}
}

func TestValidateDistinguishesMistakes(t *testing.T) {
	const limits = "min_prefix, marks and lifetime must be 0 or more"
	for _, tc := range []struct {
		change func(*Card)
		want   string
	}{
		{func(*Card) {}, ""},
		{func(c *Card) { c.Output, c.CacheRead = 0, 0 }, ""},
		{func(c *Card) { c.MinPrefix, c.Granularity, c.Marks, c.Lifetime = 0, 0, 0, 0 }, ""},
		{func(c *Card) { c.Input = -1 }, "input must be a price of 0 or more (got -1)"},
		{func(c *Card) { c.Output = math.Inf(1) }, "output must be a price of 0 or more (got +Inf)"},
		{func(c *Card) { c.Output = math.NaN() }, "output must be a price of 0 or more (got NaN)"},
		{func(c *Card) { c.Input = 0 }, "input must be above 0"},
		{func(c *Card) { c.CacheRead = 3 }, "cache_read (3) must not be above cache_write (2.5)"},
		{func(c *Card) { c.CacheWrite = 5 }, "cache_write (5) must not be above cache_write_hour (4)"},
		{func(c *Card) { c.CacheWriteHour = 0 }, "cache_write (2.5) must not be above cache_write_hour (0)"},
		{func(c *Card) { c.CacheWriteHour = -1 }, "cache_write_hour must be a price of 0 or more (got -1)\ncache_write (2.5) must not be above cache_write_hour (-1)"},
		{func(c *Card) { c.CacheRead, c.CacheWrite = 4, 4 }, ""},
		{func(c *Card) { c.Granularity = 0 }, "granularity must be 1 or more (got 0)"},
		{func(c *Card) { c.MinPrefix = -1 }, limits},
		{func(c *Card) { c.Marks = -1 }, limits},
		{func(c *Card) { c.Lifetime = -1 }, limits},
	} {
		c := valid()
		tc.change(&c)
		got := ""
		if err := c.Validate(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%+v: the error is %q, want %q", c, got, tc.want)
		}
	}
}

func TestACardCachesIfReadingIsCheaperThanInput(t *testing.T) {
	for _, tc := range []struct {
		prefix int
		read   float64
		want   bool
	}{{1024, 0.5, true}, {1, 1.99, true}, {1024, 2, false}, {1024, 2.5, false}, {0, 0.5, false}} {
		c := valid()
		c.MinPrefix, c.CacheRead = tc.prefix, tc.read
		if c.Caches() != tc.want {
			t.Errorf("from %d tokens, reads at %v: Caches is %v", tc.prefix, tc.read, !tc.want)
		}
	}
}

func TestCardsAreNamedWithTheirSource(t *testing.T) {
	for want, c := range map[string]Card{
		"m (the price list, 2026-08-05)":       {Model: "m", Source: "the price list", Date: "2026-08-05"},
		"an unknown model (the configuration)": {Source: "the configuration"},
	} {
		if c.String() != want {
			t.Errorf("the card is named %q, want %q", c, want)
		}
	}
}

func TestScaledKeepsTheRatios(t *testing.T) {
	c := valid()
	c.Relative = true
	want := c
	want.Input, want.CacheRead, want.CacheWrite, want.CacheWriteHour, want.Output, want.Relative = 6, 1.5, 7.5, 12, 30, false
	if got := c.Scaled(6); got != want {
		t.Errorf("three times the price makes %+v, want %+v", got, want)
	}
	for _, input := range []float64{0, -1} {
		if got := c.Scaled(input); got != c {
			t.Errorf("Scaled(%v) = %+v", input, got)
		}
	}
	c.Input = 0
	if got := c.Scaled(6); got != c {
		t.Errorf("a card without a price becomes %+v", got)
	}
}

func TestAFamilyHasItsOwnRatios(t *testing.T) {
	for name, want := range map[string]Card{
		"o1-preview":       {Model: "o1", CacheRead: 0.5, Output: 4},
		"o3-mini":          {Model: "o3", CacheRead: 0.25, Output: 4},
		"codestral-latest": {Model: "codestral", CacheRead: 0.1, Output: 3},
		"llama-4-maverick": {Model: "llama", CacheRead: 1, Output: 3},
		"in-house-7b":      {CacheRead: 0.1, Output: 4},
	} {
		c, ok := For(name)
		if ok || c.Model != want.Model || c.Input != 1 || c.CacheRead != want.CacheRead || c.Output != want.Output || !c.Relative {
			t.Errorf("For(%q) = %+v, known %v", name, c, ok)
		}
	}
}

func TestFieldsThatAreMissingInJSONStay(t *testing.T) {
	c, want := valid(), valid()
	want.Output = 12
	if err := json.Unmarshal([]byte(`{"output": 12}`), &c); err != nil || c != want {
		t.Errorf("the card is %+v, %v, want %+v", c, err, want)
	}
}

func TestPromptIsCachedFromTheMinimumPrefixOn(t *testing.T) {
	c := valid()
	for _, tc := range []struct {
		prompt, same int
		want         Usage
	}{
		{1023, 1023, Usage{Fresh: 1023}},
		{1024, 0, Usage{Written: 1024}},
		{1024, 1024, Usage{Cached: 1024}},
		{2000, 1023, Usage{Written: 2000}},
		{2000, 1024, Usage{Cached: 1024, Written: 976}},
		{2000, 1152, Usage{Cached: 1152, Written: 848}},
		{2000, 1151, Usage{Cached: 1024, Written: 976}},
		{1152, 5000, Usage{Cached: 1152}},
	} {
		if got := c.Split(tc.prompt, tc.same); got != tc.want {
			t.Errorf("Split(%d, %d) = %+v, want %+v", tc.prompt, tc.same, got, tc.want)
		}
	}
	c.MinPrefix = 0
	if got := c.Cached(5000); got != 0 {
		t.Errorf("a provider without a cache has %d tokens of it", got)
	}
}

// The figures come from the doc comments, added up by hand: dollars per million
// tokens, 40,000 tokens fewer, ten calls.
func TestJudgeSumsCostsAndSavings(t *testing.T) {
	c := valid()
	s := Stock{Tokens: 60_000, Growth: 1000, Horizon: 10, Step: 8000, Raw: 1, Overrun: 0.1}
	x := Candidate{Level: 20_000, Prefix: 10_000, Summary: 0.05, Reading: 0.03, Recalls: 0.01, Weight: 2}
	warm := Verdict{
		Fixed:  0.05 + 10_000*2e-6,
		Linear: 0.03 + 0.01,
		Due:    20_000 + math.Sqrt(2*1000*0.07/0.5e-6),
		Saves:  40_000 * 10 * 0.5e-6,
		Pays:   true, Safe: true,
	}
	warm.Overrun = warm.Fixed + 0.03 - 40_000*0.5e-6
	span := warm.Due - 20_000
	warm.PerCall = 0.5e-6*(20_000+span/2) + 1000*0.07/span + 1000*(0.03+2*0.01)/40_000
	near(t, "warm", c.Judge(s, x), warm)

	cold := warm
	cold.Fixed, cold.Due = 0.05, 28_000
	cold.Saves = 40_000 * (2.5e-6 + 9*0.5e-6)
	cold.Overrun = cold.Fixed + 0.03 - 40_000*2.5e-6
	s.Cold = true
	near(t, "cold", c.Judge(s, x), cold)

	s.Cold, s.Growth = false, 0 // counts as 1
	slow := warm
	slow.Due = 28_000 // the root is smaller than the least step
	slow.PerCall = 0.5e-6*24_000 + 0.07/8000 + (0.03+2*0.01)/40_000
	near(t, "a session that does not grow", c.Judge(s, x), slow)
}

func near(t *testing.T, name string, got, want Verdict) {
	t.Helper()
	for _, p := range [][2]*float64{{&got.Fixed, &want.Fixed}, {&got.Linear, &want.Linear}, {&got.PerCall, &want.PerCall}, {&got.Due, &want.Due}, {&got.Saves, &want.Saves}, {&got.Overrun, &want.Overrun}} {
		if math.Abs(*p[0]-*p[1]) < 1e-9*(1+math.Abs(*p[1])) {
			*p[0] = *p[1]
		}
	}
	if got != want {
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
}

func TestACandidateIsChosenAtItsBounds(t *testing.T) {
	v := Verdict{Due: 60_000, Pays: true, Safe: true}
	if !v.Chosen(Stock{Tokens: 60_000}) || v.Chosen(Stock{Tokens: 59_999}) {
		t.Error("the candidate must be due at 60,000 tokens, and not earlier")
	}
	c := Card{Input: 1 << 20, CacheRead: 1 << 19, CacheWrite: 1 << 20} // sums of powers of two are exact
	none := Verdict{PerCall: math.Inf(1), Due: math.Inf(1)}
	for _, level := range []int{1024, 2048} {
		if got := c.Judge(Stock{Tokens: 1024, Horizon: 4}, Candidate{Level: level}); got != none {
			t.Errorf("no message is removed at level %d, but the verdict is %+v", level, got)
		}
	}
	free := c
	free.CacheRead = 0
	if got := free.Judge(Stock{Tokens: 1024, Horizon: 4}, Candidate{Level: 512}); got != none {
		t.Errorf("reading is free, but the verdict is %+v", got)
	}
	saves := 512 * 4 * (c.CacheRead / million)
	for reading, pays := range map[float64]bool{saves: false, saves - 1: true} {
		if got := c.Judge(Stock{Tokens: 1024, Horizon: 4}, Candidate{Level: 512, Prefix: 512, Reading: reading}); got.Pays != pays || got.Saves != saves {
			t.Errorf("the candidate saves %v and costs %v; pays: %v", got.Saves, reading, got.Pays)
		}
	}
	over := c.Judge(Stock{Tokens: 1024, Horizon: 4}, Candidate{Level: 512, Prefix: 512, Reading: 300}).Overrun
	for raw, safe := range map[float64]bool{2 * over: true, 2*over - 1: false} {
		if got := c.Judge(Stock{Tokens: 1024, Horizon: 4, Raw: raw, Overrun: 0.5}, Candidate{Level: 512, Prefix: 512, Reading: 300}); got.Safe != safe {
			t.Errorf("an overrun of %v is safe for a session that cost %v: %v", got.Overrun, raw, got.Safe)
		}
	}
}
