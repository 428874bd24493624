package bpe

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/agentcompact/compact/internal/samples"
)

// TestQuickPiecesMatchTheScanner uses texts of characters that the
// patterns distinguish, mostly ASCII, with many long words.
func TestQuickPiecesMatchTheScanner(t *testing.T) {
	mixed, words, wide := []rune("aabcXYZz019 \t\n\r'\"./-_{}@`[\x00\x1f\x7f\v"), []rune("abcdefgXY's"), []rune("é的\u00a0\u0301²")
	c := unicodeClasses()
	for _, kind := range []struct {
		name  string
		enc   *Encoding
		quick func(uint64) int
	}{{"cl100k_base", CL100K, quickCL100K}, {"o200k_base", O200K, quickO200K}} {
		rng := rand.New(rand.NewPCG(31, 32))
		found, long := 0, 0
		n := samples.Of(300_000)
		for range n {
			chars := mixed
			if rng.IntN(4) == 0 {
				chars = words
			}
			var text []rune
			for range 24 {
				r := chars[rng.IntN(len(chars))]
				if rng.IntN(30) == 0 {
					r = wide[rng.IntN(len(wide))]
				}
				text = append(text, r)
			}
			b := []byte(string(text))
			got, want := kind.quick(binary.LittleEndian.Uint64(b)), kind.enc.next(c, b, 0)
			switch got {
			case 0:
				continue
			case wordContinues:
				long++
				got = kind.enc.rest(c, b, wordContinues)
			}
			if found++; got != want {
				t.Fatalf("%s: the piece at the start of %q has %d bytes, want %d", kind.name, b, got, want)
			}
		}
		if found < n/6 || long < n/400 {
			t.Errorf("%s: only %d of %d pieces were found in one word, %d long ones", kind.name, found, n, long)
		}
	}
}
