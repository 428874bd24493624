package wiretest

import (
	"flag"
	"iter"
	"os"
	"testing"
)

var seed = flag.Uint64("seed", 1, "of the first random body")

// Random returns bodies that the function body writes, each with its seed. The
// first seed is the value of the flag -seed. There are 150 bodies, or 20,000 if
// the variable COMPACT_SOAK is set.
func Random(t *testing.T, body func(seed uint64) string) iter.Seq2[uint64, []byte] {
	n := uint64(150)
	if os.Getenv("COMPACT_SOAK") != "" {
		n = 20_000
	}
	return func(yield func(uint64, []byte) bool) {
		at := *seed
		defer func() {
			if t.Failed() {
				t.Logf("again: -seed %d", at)
			}
		}()
		for ; at < *seed+n && !t.Failed(); at++ {
			if !yield(at, []byte(body(at))) {
				return
			}
		}
		t.Logf("%d bodies from seed %d", n, *seed)
	}
}
