package record

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The words that can be hashes are those that a regular expression finds.
func TestHashesInATextAreFound(t *testing.T) {
	want, random := regexp.MustCompile(`\b[0-9a-f]{64}\b`), rand.New(rand.NewPCG(1, 2))
	hash := strings.Repeat("0a9f", 16)
	pieces := []string{hash, hash, hash[:63], hash[:1], "G", "_", " ", `"`, "é", "\xff", "text of some length"}
	found := 0
	for range 5_000 {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		var all []int
		for _, at := range want.FindAllStringIndex(b.String(), -1) {
			all = append(all, at[0])
		}
		if got := slices.Collect(hashesIn([]byte(b.String()))); !slices.Equal(got, all) {
			t.Fatalf("%q: found at %d, want %d", b.String(), got, all)
		}
		found += len(all)
	}
	if found < 500 {
		t.Errorf("the texts have only %d hashes, want at least 500", found)
	}
}
