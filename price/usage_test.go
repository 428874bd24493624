package price

import (
	"math"
	"testing"
)

func card(t *testing.T, model string) Card {
	t.Helper()
	c, ok := For(model)
	if !ok {
		t.Fatalf("no card for %s", model)
	}
	return c
}

func TestSplitFollowsTheRulesOfTheCache(t *testing.T) {
	for _, tc := range []struct {
		model        string
		prompt, same int
		want         Usage
	}{
		{"claude-sonnet-4-5", 1000, 900, Usage{Fresh: 1000}},                 // shorter than the smallest cached prompt
		{"claude-sonnet-4-5", 5000, 900, Usage{Written: 5000}},               // the common part is shorter than that
		{"claude-sonnet-4-5", 5000, 4001, Usage{Cached: 4001, Written: 999}}, // step 1
		{"gpt-4o", 5000, 4001, Usage{Cached: 3968, Written: 1032}},           // steps of 128
		{"gpt-4o", 5000, 9000, Usage{Cached: 4992, Written: 8}},              // the prompt got shorter
		{"gpt-4", 5000, 5000, Usage{Fresh: 5000}},                            // no cache
		{"gemini-2.5-pro", 3000, 2047, Usage{Written: 3000}},                 // at least 2048
		{"deepseek-chat", 200, 130, Usage{Cached: 128, Written: 72}},         // units of 64
	} {
		got := card(t, tc.model).Split(tc.prompt, tc.same)
		if got != tc.want {
			t.Errorf("%s: Split(%d, %d) = %+v, want %+v", tc.model, tc.prompt, tc.same, got, tc.want)
		}
		if got.Prompt() != tc.prompt {
			t.Errorf("%s: the parts add up to %d, want %d", tc.model, got.Prompt(), tc.prompt)
		}
	}
}

func TestCostSumsTheBilledParts(t *testing.T) {
	u := Usage{Cached: 100_000, Written: 10_000, WrittenHour: 1_000, Fresh: 2_000, Output: 500}
	want := 0.1*0.3 + 0.01*3.75 + 0.001*6 + 0.002*3 + 0.0005*15
	if got := card(t, "claude-sonnet-4-5").Cost(u); math.Abs(got-want) > 1e-12 {
		t.Errorf("Cost = %v, want %v", got, want)
	}
	if sum := u.Plus(u); sum.Prompt() != 2*u.Prompt() || sum.Output != 1000 {
		t.Errorf("Plus = %+v", sum)
	}
}

func TestPlusAddsEveryKindOfTokens(t *testing.T) {
	a, b := Usage{Cached: 1, Written: 2, WrittenHour: 3, Fresh: 4, Output: 5}, Usage{Cached: 10, Written: 20, WrittenHour: 30, Fresh: 40, Output: 50}
	if got, want := a.Plus(b), (Usage{Cached: 11, Written: 22, WrittenHour: 33, Fresh: 44, Output: 55}); got != want || got.Prompt() != 110 {
		t.Errorf("%+v, want %+v; a prompt of %d", got, want, got.Prompt())
	}
}

// Text after the last mark is neither read from the cache nor written into it.
func TestSplitMarkedBillsTheRestAsInput(t *testing.T) {
	c := card(t, "claude-sonnet-4-5")
	for _, tc := range []struct {
		prompt, marked, same int
		want                 Usage
	}{
		{9000, 9000, 4000, Usage{Cached: 4000, Written: 5000}},
		{9000, 6000, 4000, Usage{Cached: 4000, Written: 2000, Fresh: 3000}},
		{9000, 6000, 8000, Usage{Cached: 6000, Fresh: 3000}},
		{9000, 100, 0, Usage{Fresh: 9000}},
		{9000, -5, 0, Usage{Fresh: 9000}},
		{9000, 9900, 0, Usage{Written: 9000}},
	} {
		if got := c.SplitMarked(tc.prompt, tc.marked, tc.same); got != tc.want {
			t.Errorf("SplitMarked(%d, %d, %d) = %+v, want %+v", tc.prompt, tc.marked, tc.same, got, tc.want)
		}
	}
}
