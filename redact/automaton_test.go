package redact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestAutomatonFindsWhatASearchFinds compares the automaton with one search for
// each word. The automaton reads long texts in halves, so the texts have words
// across each seam.
func TestAutomatonFindsWhatASearchFinds(t *testing.T) {
	words := []string{"he", "she", "his", "hers", "e", "://", "-----begin", "密码", "aab", "aabaab"}
	a := newAutomaton(words)
	texts := []string{"", "ushers", "USHERS and his HE", "aabaabaab", "x://y-----BEGIN-----", "密码e密", strings.Repeat("she", 50)}
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var b strings.Builder
		for n := r.IntN(5 * halfSize); b.Len() < n; {
			b.WriteString([]string{"-----BEGIN-----", "aab", "sh", "e", "rs", "hi", " ", ":", "//", "密", "码", "x"}[r.IntN(12)])
		}
		texts = append(texts, b.String(), b.String()[:b.Len()/(2*halfSize)*(2*halfSize)])
	}
	for _, text := range texts {
		var got, want []string
		last, inOrder := 0, true
		a.scan(text, func(w uint16, end int) {
			if a.length[w] != len(words[w]) {
				t.Fatalf("length of %q is %d", words[w], a.length[w])
			}
			got = append(got, fmt.Sprint(words[w], end))
			last, inOrder = end, inOrder && end >= last
		})
		lower := strings.ToLower(text)
		for end := 1; end <= len(lower); end++ {
			for _, w := range words {
				if strings.HasSuffix(lower[:end], w) {
					want = append(want, fmt.Sprint(w, end))
				}
			}
		}
		if !inOrder {
			t.Errorf("in %.40q: the ends are out of order", text)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("in %.40q, %d bytes: %d words, want %d", text, len(text), len(got), len(want))
		}
	}
}
