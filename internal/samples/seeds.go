package samples

import (
	"os"
	"strconv"
	"strings"
)

// Seeds returns the seeds of a property: 0 to n-1, or the seeds in COMPACT_SEED: one seed
// to reproduce a failure (3349), or a range of new seeds (10000-12499).
func Seeds(n int) (seeds []uint64) {
	first, end := uint64(0), uint64(max(n, 0))
	if from, to, ok := chosen(); ok {
		first, end = from, to+1
	}
	for seed := first; seed < end; seed++ {
		seeds = append(seeds, seed)
	}
	return seeds
}

// Chosen reports whether COMPACT_SEED sets the seeds.
func Chosen() bool { _, _, ok := chosen(); return ok }

func chosen() (first, last uint64, ok bool) {
	text, set := os.LookupEnv("COMPACT_SEED")
	if !set {
		return 0, 0, false
	}
	from, to, several := strings.Cut(text, "-")
	if !several {
		to = from
	}
	first, err := strconv.ParseUint(from, 10, 62)
	if err == nil {
		last, err = strconv.ParseUint(to, 10, 62)
	}
	if err != nil || last < first {
		panic("COMPACT_SEED: " + text + " is neither a seed nor a range of seeds such as 100-199")
	}
	return first, last, true
}
