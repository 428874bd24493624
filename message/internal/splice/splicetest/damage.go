package splicetest

import (
	"bytes"
	"math/rand/v2"
)

// Damage returns copies of a body with one to three small changes each, always
// the same ones for a seed. Many copies are still JSON, with a misspelled key, a
// missing member or a repeated one, which no generator of well-formed bodies
// makes.
func Damage(body []byte, seed uint64) [][]byte {
	rng := rand.New(rand.NewPCG(seed, 2))
	out := make([][]byte, 6)
	for i := range out {
		b := bytes.Clone(body)
		for range 1 + rng.IntN(3) {
			b = damage(rng, b)
		}
		out[i] = b
	}
	return out
}

// damage changes one bit or byte of b, or removes or repeats up to 30 bytes.
func damage(rng *rand.Rand, b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	i := rng.IntN(len(b))
	j := min(len(b), i+1+rng.IntN(30))
	switch rng.IntN(4) {
	case 0:
		b[i] ^= 1 << rng.IntN(8)
	case 1:
		b[i] = b[rng.IntN(len(b))]
	case 2:
		return append(b[:i:i], b[j:]...)
	case 3:
		return append(b[:j:j], b[i:]...)
	}
	return b
}
