package main

import (
	"slices"
	"testing"
)

func TestTokensAreFormattedForPeople(t *testing.T) {
	for s, want := range map[string]int{"32000": 32_000, "32_000": 32_000, "32k": 32_000, "200K": 200_000, "1m": 1_000_000, "1.5k": 1_500, "0": 0, "-5": -5} {
		if got, err := tokenCount(s); got != want || err != nil {
			t.Errorf("%s: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "k", "many", "1e3", "0x10", "NaN", "inf", "1.5", "1.0005k", "32kb", "99999999999999999999"} {
		if got, err := tokenCount(s); err == nil {
			t.Errorf("%q is %d", s, got)
		}
	}
}

func TestTokenFlagsReplaceTheirDefault(t *testing.T) {
	several := []int{1, 2}
	f := &tokenFlag{several: &several}
	if f.String() != "1,2" {
		t.Errorf("the default is %q", f.String())
	}
	for _, s := range []string{"8k,32k", "128k"} {
		if err := f.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(several, []int{8_000, 32_000, 128_000}) {
		t.Errorf("%v", several)
	}
}
