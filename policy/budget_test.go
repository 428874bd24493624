package policy_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/agentcompact/compact/policy"
)

func limits(window int) policy.Limits {
	return policy.Limits{MaxContextTokens: window, HardCapBuffer: 1500, TriggerPct: 0.85, TargetPct: 0.60}
}

func TestLimitsComputeTheBudgetOfTheDefaultWindow(t *testing.T) {
	b, err := limits(128_000).Budget()
	if err != nil {
		t.Fatal(err)
	}
	want := policy.Budget{Max: 128_000, Cap: 126_500, Trigger: 108_800, Target: 76_800}
	if b != want {
		t.Errorf("got %+v, want %+v", b, want)
	}
}

// 0.85 is not a binary fraction: in floating point, 0.85*20 is just above or just
// below 17, depending on the order of the operations.
func TestBudgetComputesThresholdsInDecimal(t *testing.T) {
	for window := 20; window <= 200_000; window += 20 {
		l := policy.Limits{MaxContextTokens: window, TriggerPct: 0.85, TargetPct: 0.55}
		b, err := l.Budget()
		if err != nil {
			t.Fatal(err)
		}
		if b.Trigger != window/20*17 || b.Target != window/20*11 {
			t.Fatalf("window %d: trigger %d, target %d; want %d, %d", window, b.Trigger, b.Target, window/20*17, window/20*11)
		}
	}
}

// If a threshold is not a whole number of tokens, a view below the trigger is not
// compacted, and a view above the target has not reached the target.
func TestBudgetRoundsFractionalThresholds(t *testing.T) {
	b, err := policy.Limits{MaxContextTokens: 8001, TriggerPct: 0.85, TargetPct: 0.60}.Budget()
	if err != nil {
		t.Fatal(err)
	}
	if b.Trigger != 6801 || b.Target != 4800 {
		t.Errorf("trigger %d, target %d; want 6801 (6800.85) and 4800 (4800.6)", b.Trigger, b.Target)
	}
}

func TestBudgetTriggerNeverExceedsTheCap(t *testing.T) {
	l := policy.Limits{MaxContextTokens: 8000, HardCapBuffer: 1500, MaxOutputTokens: 4000, TriggerPct: 0.85, TargetPct: 0.6}
	b, err := l.Budget()
	if err != nil {
		t.Fatal(err)
	}
	if b.Cap != 2500 || b.Trigger != 2500 {
		t.Errorf("cap %d, trigger %d; want both 2500", b.Cap, b.Trigger)
	}
	if want := 2500 * 60 / 85; b.Target != want {
		t.Errorf("target %d, want %d: the share of the trigger, not of the window", b.Target, want)
	}
}

func TestBudgetRejectsImpossibleLimits(t *testing.T) {
	for name, l := range map[string]policy.Limits{
		"nothing left":         {MaxContextTokens: 1000, HardCapBuffer: 1000, TriggerPct: 0.85, TargetPct: 0.6},
		"target above trigger": {MaxContextTokens: 1000, TriggerPct: 0.5, TargetPct: 0.6},
		"target at trigger":    {MaxContextTokens: 1000, TriggerPct: 0.6, TargetPct: 0.6},
		"trigger above one":    {MaxContextTokens: 1000, TriggerPct: 1.7, TargetPct: 0.6},
		"no trigger":           {MaxContextTokens: 1000, TargetPct: 0.6},
	} {
		var wrong *policy.ConfigError
		if _, err := l.Budget(); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want a ConfigError", name, err)
		}
	}
}

func TestDueLeavesRoomAfterAHighFloor(t *testing.T) {
	b, _ := limits(128_000).Budget()
	for last, want := range map[int]int{
		0:       108_800,
		76_000:  108_800,         // up to the target: the trigger
		90_000:  90_000 + 32_000, // above the target: the size plus the distance from target to trigger
		110_000: 126_500,         // never above the cap
		126_500: 126_501,         // except that a view at the cap is not due again
	} {
		if got := b.Due(last); got != want {
			t.Errorf("after a compaction that ended at %d, the next is due at %d, want %d", last, got, want)
		}
	}
}

// The trigger is compared with the upper bound of a view, so the target must also
// apply to the upper bound.
func TestAimingLowersTheTarget(t *testing.T) {
	b := policy.Budget{Max: 1000, Cap: 900, Trigger: 850, Target: 600}
	if got := b.Aiming(720, 480); got.Cap != 720 || got.Target != 480 {
		t.Errorf("cap and target: %+v, want 720 and 480", got)
	}
	if got := b.Aiming(720, 800); got.Target != 600 {
		t.Errorf("higher target: %+v, want target 600", got)
	}
	if got := b.Aiming(900, 480); got != b {
		t.Errorf("aim at the cap: %+v, want an unchanged budget", got)
	}
}

func TestBudgetNamesEachMistake(t *testing.T) {
	const pct = "must be 0.0-1.0 and above 0.0"
	for _, tc := range []struct {
		limits policy.Limits
		want   []string // paths, reasons, values and other settings
	}{
		{policy.Limits{MaxContextTokens: 1000, HardCapBuffer: 900, MaxOutputTokens: 100, TriggerPct: 0.85, TargetPct: 0.6},
			[]string{"max_context_tokens: 1000 less policy.hard_cap_buffer 900 and max_output_tokens 100 leaves 0 tokens for the conversation <nil>, with [policy.hard_cap_buffer max_output_tokens]"}},
		{policy.Limits{MaxContextTokens: 1000, HardCapBuffer: 900, MarginPct: 20, TriggerPct: 0.85, TargetPct: 0.6},
			[]string{"max_context_tokens: 1000 less policy.hard_cap_buffer 900, policy.margin_pct 20 (200 tokens) and max_output_tokens 0 leaves -100 tokens for the conversation <nil>, with [policy.hard_cap_buffer max_output_tokens policy.margin_pct]"}},
		{policy.Limits{MaxContextTokens: 1000, TriggerPct: 1.01, TargetPct: 0}, []string{"policy.trigger_pct: " + pct + " 1.01, with []", "policy.target_pct: " + pct + " 0, with []"}},
		{policy.Limits{MaxContextTokens: 1000, TriggerPct: math.NaN(), TargetPct: -0.1}, []string{"policy.trigger_pct: " + pct + " NaN, with []", "policy.target_pct: " + pct + " -0.1, with []"}},
		{policy.Limits{MaxContextTokens: 1000, TriggerPct: 0.5, TargetPct: 1.5}, []string{"policy.target_pct: " + pct + " 1.5, with []"}},
		{policy.Limits{MaxContextTokens: 1000, TriggerPct: 0.5, TargetPct: 1}, []string{"policy.target_pct: must be below policy.trigger_pct 0.5 1, with [policy.trigger_pct]"}},
		{policy.Limits{MaxContextTokens: 1000, TriggerPct: 1, TargetPct: 0.001}, nil},
		{policy.Limits{MaxContextTokens: 1000, HardCapBuffer: 999, TriggerPct: 0.85, TargetPct: 0.6}, nil},
	} {
		_, err := tc.limits.Budget()
		var got []string
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				if c := (*policy.ConfigError)(nil); errors.As(e, &c) {
					got = append(got, fmt.Sprintf("%s: %s %v, with %v", c.Path, c.Reason, c.Value, c.With))
				}
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%+v: %q, want %q", tc.limits, got, tc.want)
		}
	}
}

func TestBudgetReservesTheMargin(t *testing.T) {
	b, err := policy.Limits{MaxContextTokens: 10_000, MaxOutputTokens: 1000, HardCapBuffer: 500, MarginPct: 3, TriggerPct: 0.9, TargetPct: 0.45}.Budget()
	if want := (policy.Budget{Max: 10_000, Cap: 8200, Trigger: 8200, Target: 4100}); err != nil || b != want {
		t.Errorf("%+v, %v, want %+v", b, err, want)
	}
}

func TestDueHandlesABudgetWithoutTrigger(t *testing.T) {
	b := policy.Budget{Max: 1000, Cap: 900, Trigger: 850, Target: 600}
	for last, want := range map[int]int{-1: 850, 1: 850, 600: 850, 601: 851, 650: 900, 900: 901} {
		if got := b.Due(last); got != want {
			t.Errorf("after %d, the next is due at %d, want %d", last, got, want)
		}
	}
	never := b.CapOnly()
	if never.Trigger != 901 || never.Target != 900 || never.Due(0) != 901 || never.Due(950) != 901 || never.Deeper(5000) != never {
		t.Errorf("%+v, want trigger 901 and target 900", never)
	}
}

func TestDeeperAndAimingLowerTheTarget(t *testing.T) {
	b := policy.Budget{Max: 1000, Cap: 900, Trigger: 850, Target: 600}
	for growth, want := range map[int]int{0: 600, 250: 600, 251: 348, 400: 50, 425: 0, 600: 0} {
		if got := b.Deeper(growth); got.Target != want || got.Cap != 900 || got.Trigger != 850 {
			t.Errorf("growth of %d: %+v, want target %d", growth, got, want)
		}
	}
	atCap := policy.Budget{Max: 1000, Cap: 850, Trigger: 850, Target: 600}
	if got := atCap.Deeper(300); got.Target != 250 {
		t.Errorf("trigger at the cap: %+v, want target 250", got)
	}
	if got := atCap.Due(900); got != 901 {
		t.Errorf("trigger at the cap: the next is due at %d, want 901", got)
	}
	if got, want := b.Deeper(300).OfTokensDone(), (policy.Budget{Max: 1000, Cap: 900, Trigger: 850, Target: 900}); got != want {
		t.Errorf("a compaction for the size in bytes: %+v, want %+v", got, want)
	}
	if got := b.Aiming(899, 950); got.Cap != 899 || got.Target != 600 {
		t.Errorf("aim 899: %+v, want cap 899 and target 600", got)
	}
	if got := b.Aiming(-5, -7); got.Cap != 0 || got.Target != 0 {
		t.Errorf("negative aim: %+v, want cap 0 and target 0", got)
	}
	if got := b.Aiming(500, 950); got.Target != 500 {
		t.Errorf("the target is above the aim: %+v, want target 500", got)
	}
	if got := b.Aiming(800, 500).Aiming(700, 400); got.Cap != 700 || got.Target != 400 || got.Most() != 900 {
		t.Errorf("a second aim: %+v, a view of more than %d tokens is refused, want 900", got, got.Most())
	}
}
