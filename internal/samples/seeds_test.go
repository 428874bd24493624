package samples_test

import (
	"os"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/samples"
)

func TestSeedsAreChosenByTheEnvironment(t *testing.T) {
	t.Setenv("COMPACT_SEED", "") // restores it
	if err := os.Unsetenv("COMPACT_SEED"); err != nil {
		t.Fatal(err)
	}
	if got := samples.Seeds(3); !slices.Equal(got, []uint64{0, 1, 2}) || samples.Chosen() {
		t.Errorf("%d, chosen %v", got, samples.Chosen())
	}
	for text, want := range map[string][]uint64{"0": {0}, "3349": {3349}, "7-9": {7, 8, 9}, "5-5": {5}} {
		t.Setenv("COMPACT_SEED", text)
		if got := samples.Seeds(3); !slices.Equal(got, want) || !samples.Chosen() {
			t.Errorf("%s: %d, chosen %v", text, got, samples.Chosen())
		}
	}
	for _, text := range []string{"", "x", "9-7", "-3", "1-", "1-2-3"} {
		t.Setenv("COMPACT_SEED", text)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q names seeds", text)
				}
			}()
			samples.Seeds(3)
		}()
	}
}
