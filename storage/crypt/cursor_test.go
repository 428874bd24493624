package crypt_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
)

// TestReadsEachRangeOfALargeFile: a range over the end of a chunk (64 KiB) that ends
// in the middle of another is read, wherever it begins.
func TestReadsEachRangeOfALargeFile(t *testing.T) {
	const chunk = 64 << 10
	p := newPair(t)
	a := crypt.New(memory.New(), keys(t, p.identity, p))
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{5 * chunk, 6*chunk + 777} {
		content := randomText(rng, size)
		k := key(t, "s/large.jsonl")
		must(t, a.Create(t.Context(), k, storage.Redacted(text(t, content))))
		places := []int{0, 1, chunk - 1, chunk, chunk + 1, 2*chunk - 1, 3*chunk + 5, 4 * chunk, size - chunk - 1, size - 1, size}
		for _, from := range places {
			for _, to := range places {
				if to <= from {
					continue
				}
				got, err := read(t.Context(), a, k, int64(from), int64(to-from))
				if err != nil || got != content[from:to] {
					t.Errorf("%d bytes, %d to %d: %d bytes came, %v", size, from, to, len(got), err)
				}
			}
		}
		must(t, a.Remove(t.Context(), k))
	}
}

func randomText(rng *rand.Rand, size int) string {
	var b strings.Builder
	for range size {
		b.WriteByte(byte('a' + rng.IntN(26)))
	}
	return b.String()
}
