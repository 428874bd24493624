package chart

import "testing"

func TestTicksAreRound(t *testing.T) {
	for _, tc := range []struct {
		low, high float64
		want      []float64
	}{{0, 1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}}, {3, 3, []float64{3}}, {0, 128000, []float64{0, 50000, 100000}}} {
		got := ticks(tc.low, tc.high, 5)
		if len(got) != len(tc.want) {
			t.Errorf("ticks(%v, %v) = %v, want %v", tc.low, tc.high, got, tc.want)
		}
	}
}
