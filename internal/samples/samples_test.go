package samples_test

import (
	"testing"

	"github.com/agentcompact/compact/internal/samples"
)

func TestSamplesFollowTheEnvironment(t *testing.T) {
	for _, env := range []struct {
		samples, soak string
		all           bool
	}{
		{"", "", false}, {"some", "", false}, {"", "0", false}, {"all", "", true}, {"all", "0", true}, {"", "1", true},
	} {
		t.Setenv("COMPACT_SAMPLES", env.samples)
		t.Setenv("COMPACT_SOAK", env.soak)
		if got := samples.All(); got != env.all {
			t.Errorf("%+v: all %v", env, got)
		}
		for _, of := range []struct{ n, some int }{{0, 0}, {1, 1}, {2, 1}, {8, 1}, {9, 2}, {75, 10}, {400, 50}} {
			want := of.some
			if env.all {
				want = of.n
			}
			if got := samples.Of(of.n); got != want {
				t.Errorf("%+v: %d samples of %d, want %d", env, got, of.n, want)
			}
		}
		for _, of := range []struct{ n, some int }{{0, 0}, {1, 1}, {16, 1}, {17, 2}, {160, 10}} {
			want := of.some
			if env.all {
				want = of.n
			}
			if got := samples.Few(of.n); got != want {
				t.Errorf("%+v: %d samples of %d, want %d", env, got, of.n, want)
			}
		}
		for _, n := range []int{1, 8, 32} {
			want := 8 * n
			if env.all {
				want = n
			}
			if got := samples.Every(n); got != want {
				t.Errorf("%+v: each %d-th where each %d-th is taken, want %d", env, got, n, want)
			}
		}
	}
}
