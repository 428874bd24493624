package bpe

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestQuickPiecesEndWhereTheScannerEndsThem draws texts from characters that
// patterns tell apart, more of them ASCII than not.
func TestQuickPiecesEndWhereTheScannerEndsThem(t *testing.T) {
	const chars = "aabcXYZz019 \t\n\r'\"./-_{}@`[\x00\x1f\x7f\v"
	c := unicodeClasses()
	for _, kind := range []struct {
		name  string
		quick func(uint64) int
		next  func(*classes, []byte, int) int
	}{{"cl100k_base", quickCL100K, nextCL100K}, {"o200k_base", quickO200K, nextO200K}} {
		rng := rand.New(rand.NewPCG(31, 32))
		found := 0
		for range 300_000 {
			var b []byte
			for len(b) < 16 {
				if rng.IntN(20) == 0 {
					b = append(b, string([]rune("é的\u00a0\u0301²")[rng.IntN(5)])...)
					continue
				}
				b = append(b, chars[rng.IntN(len(chars))])
			}
			got, want := kind.quick(binary.LittleEndian.Uint64(b)), kind.next(c, b, 0)
			if got != 0 && got != want {
				t.Fatalf("%s: the piece at the start of %q has %d bytes, want %d", kind.name, b, got, want)
			}
			if got != 0 {
				found++
			}
		}
		if found < 100_000 {
			t.Errorf("%s: only %d of 300000 pieces were found in one word", kind.name, found)
		}
	}
}
