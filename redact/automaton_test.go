package redact

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAutomatonFindsWhatASearchFinds compares with one search a word.
func TestAutomatonFindsWhatASearchFinds(t *testing.T) {
	words := []string{"he", "she", "his", "hers", "e", "://", "-----begin", "密码", "aab", "aabaab"}
	a := newAutomaton(words)
	for _, text := range []string{"", "ushers", "USHERS and his HE", "aabaabaab", "x://y-----BEGIN-----", "密码e密", strings.Repeat("she", 50)} {
		var got, want []string
		a.scan(text, func(w uint16, end int) {
			if a.length[w] != len(words[w]) {
				t.Fatalf("length of %q is %d", words[w], a.length[w])
			}
			got = append(got, fmt.Sprint(words[w], end))
		})
		lower := strings.ToLower(text)
		for end := 1; end <= len(lower); end++ {
			for _, w := range words {
				if strings.HasSuffix(lower[:end], w) {
					want = append(want, fmt.Sprint(w, end))
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("in %q: got %v, want %v", text, got, want)
		}
	}
}
