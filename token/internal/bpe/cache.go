package bpe

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// A cache stores the counts of pieces that are not single tokens, because
// identifiers and clauses recur. It is direct-mapped and shared by all
// goroutines. A slot fills a cache line and is guarded by a sequence number,
// which is odd while the slot is written. A read is a miss if the number is odd,
// or changes during the read.
type cache [cacheSlots]cacheSlot

const (
	cacheBits  = 12
	cacheSlots = 1 << cacheBits
	cacheWords = 6
	cachedSize = 8 * cacheWords // bytes of the longest piece that is cached
)

type cacheSlot struct {
	seq   atomic.Uint64
	sizes atomic.Uint64             // the length of the piece in the low 32 bits, its tokens above
	text  [cacheWords]atomic.Uint64 // as many words as the length needs, zero-padded
}

// words are the bytes of a piece as little-endian words. The method at clears
// the bytes after the piece.
type words struct {
	b    []byte // whole words; the last one can include bytes after the piece
	size int
}

// wordsOf returns the words of the piece of size bytes at b[from]. It returns
// false if the piece is too long for the cache or too near to the end of b.
func wordsOf(b []byte, from, size int) (words, bool) {
	end := from + (size+7)&^7
	if size > cachedSize || end > len(b) {
		return words{}, false
	}
	return words{b[from:end], size}, true
}

func (w words) count() int { return len(w.b) / 8 }

func (w words) at(i int) uint64 {
	word := binary.LittleEndian.Uint64(w.b[8*i:])
	if left := w.size - 8*i; left < 8 {
		word &= 1<<(8*left) - 1
	}
	return word
}

func (c *cache) slot(w words) *cacheSlot {
	h := uint64(w.size)
	for i := range w.count() {
		hi, lo := bits.Mul64(h^w.at(i), spread)
		h = hi ^ lo
	}
	return &c[h>>(64-cacheBits)]
}

// find returns the cached count of a piece, or 0.
func (s *cacheSlot) find(w words) int {
	seq := s.seq.Load()
	sizes := s.sizes.Load()
	if uint32(sizes) != uint32(w.size) {
		return 0
	}
	for i := range w.count() {
		if s.text[i].Load() != w.at(i) {
			return 0
		}
	}
	if seq&1 != 0 || s.seq.Load() != seq {
		return 0
	}
	return int(sizes >> 32)
}

// put stores a count, unless another goroutine is writing the slot.
func (s *cacheSlot) put(w words, tokens int) {
	seq := s.seq.Load()
	if seq&1 != 0 || !s.seq.CompareAndSwap(seq, seq+1) {
		return
	}
	s.sizes.Store(uint64(w.size) | uint64(tokens)<<32)
	for i := range w.count() {
		s.text[i].Store(w.at(i))
	}
	s.seq.Store(seq + 2)
}
