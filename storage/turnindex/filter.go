package turnindex

// filter is a Bloom filter. A key that it does not hold is certainly not in the
// table, so a reader of several tables usually reads a page of only one of
// them.
type filter []byte

const (
	filterBits   = 16 // for each key
	filterProbes = 10
)

func newFilter(keys int) filter { return make(filter, (keys*filterBits+7)/8) }

func (f filter) add(hash uint64) {
	f.probe(hash, func(at uint64) bool {
		f[at/8] |= 1 << (at % 8)
		return true
	})
}

func (f filter) holds(hash uint64) bool {
	return len(f) > 0 && f.probe(hash, func(at uint64) bool { return f[at/8]&(1<<(at%8)) != 0 })
}

// probe calls fn for each bit of a hash until it returns false.
func (f filter) probe(hash uint64, fn func(bit uint64) bool) bool {
	if len(f) == 0 {
		return false
	}
	n := uint64(len(f)) * 8
	step := mix(hash) | 1
	for range filterProbes {
		if !fn(hash % n) {
			return false
		}
		hash += step
	}
	return true
}
