package bpe

import (
	"math/rand/v2"
	"sync"
	"testing"
)

func TestCountToContinuesAtItsLastOffset(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		rng := rand.New(rand.NewPCG(41, 42))
		for range 300 {
			text := Valid(randomText(rng, 20, 30))
			tokens, from := 0, 0
			for from < len(text) {
				n, next := s.enc.CountTo(text, from, min(len(text), from+1+rng.IntN(50)))
				if next <= from {
					t.Fatalf("no step forward from %d in %q", from, text)
				}
				tokens, from = tokens+n, next
			}
			if want := s.enc.Count(text); tokens != want || from != len(text) {
				t.Fatalf("%d tokens up to %d of %q, want %d up to %d", tokens, from, text, want, len(text))
			}
		}
	})
}

// TestCountIsCorrectForConcurrentCallers makes goroutines compete for the slots of the
// cache: each counts all texts, in a different order.
func TestCountIsCorrectForConcurrentCallers(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		rng := rand.New(rand.NewPCG(51, 52))
		texts, want := make([]string, 3_000), make([]int, 3_000)
		for i := range texts {
			texts[i] = randomText(rng, 2, 12) + " padding that is long enough to leave the slow path"
			want[i] = s.want(texts[i])
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range texts {
					k := (i*7 + g*375) % len(texts)
					if got := s.enc.Count(texts[k]); got != want[k] {
						t.Errorf("%q: %d tokens, want %d", texts[k], got, want[k])
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestEmptyTextCountsZero(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		if n := s.enc.Count(""); n != 0 {
			t.Errorf("%d tokens in no text", n)
		}
	})
}
