package bpe

import (
	"encoding/binary"
	"math/bits"
)

// The tables are open addressing with linear probing, sized at load to be at
// most half to three quarters full, and never changed afterwards.

const spread = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio

// slotBits returns the binary logarithm of the size of a table.
func slotBits(entries int) int { return bits.Len(uint(entries)) }

// shortKey makes the key of a text of up to 7 bytes: word holds it in its low
// bytes, what stands above them is ignored.
func shortKey(word uint64, n int) uint64 {
	return word&(1<<(8*n)-1) | uint64(n)<<56
}

// shortTable is the set of tokens of up to 7 bytes.
type shortTable struct {
	slots []uint64 // 0 = free
	shift uint8
}

func newShortTable(tokens int) shortTable {
	n := slotBits(tokens)
	return shortTable{make([]uint64, 1<<n), uint8(64 - n)}
}

func (t *shortTable) add(key uint64) {
	mask := len(t.slots) - 1
	i := int(key * spread >> t.shift)
	for t.slots[i&mask] != 0 {
		i++
	}
	t.slots[i&mask] = key
}

func (t *shortTable) has(key uint64) bool {
	mask := len(t.slots) - 1
	for i := int(key * spread >> t.shift); ; i++ {
		switch t.slots[i&mask] {
		case key:
			return true
		case 0:
			return false
		}
	}
}

// eightTable is the set of tokens of 8 bytes. Keys are kept inverted: 0 is a
// free slot and stands for eight bytes 0xFF, which are no text.
type eightTable struct{ shortTable }

func newEightTable(tokens int) eightTable { return eightTable{newShortTable(tokens / 4)} }

func (t *eightTable) add(word uint64) { t.shortTable.add(^word) }

func (t *eightTable) has(word uint64) bool { return t.shortTable.has(^word) }

// A slot of the tables below holds a rank and 14 bits of the hash, so that
// most misses are seen without a look at the token. 0 is a free slot: neither
// table holds rank 0, which is a single byte.
const (
	tagShift = 18
	slotRank = 1<<tagShift - 1
)

// longTable finds tokens of more than 8 bytes.
type longTable struct {
	slots []uint32
	shift uint8
}

func newLongTable(tokens int) longTable {
	n := slotBits(tokens / 2)
	return longTable{make([]uint32, 1<<n), uint8(64 - n)}
}

func (t *longTable) add(hash uint64, r rank) {
	mask := len(t.slots) - 1
	i := int(hash >> t.shift)
	for t.slots[i&mask] != 0 {
		i++
	}
	t.slots[i&mask] = uint32(hash)<<tagShift | r
}

// has reports whether text, of more than 8 bytes, is a token of v.
func (t *longTable) has(v *vocabulary, text []byte) bool {
	hash := hashLong(text)
	tag, mask := uint32(hash)<<tagShift, len(t.slots)-1
	for i := int(hash >> t.shift); ; i++ {
		slot := t.slots[i&mask]
		if slot == 0 {
			return false
		}
		if slot&^slotRank == tag && string(v.text(slot&slotRank)) == string(text) {
			return true
		}
	}
}

// hashLong hashes a text of at least 8 bytes.
func hashLong(text []byte) uint64 {
	n := len(text)
	h := uint64(n) * spread
	for i := 0; i+8 < n; i += 8 {
		h = mix(h ^ binary.LittleEndian.Uint64(text[i:]))
	}
	return mix(h ^ binary.LittleEndian.Uint64(text[n-8:]))
}

func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x, 0xD6E8FEB86659FD93)
	return hi ^ lo
}

// pairTable finds the token that two tokens merge to.
type pairTable struct {
	slots []uint32
	shift uint8
}

func newPairTable(tokens int) pairTable {
	n := slotBits(tokens) + 1
	return pairTable{make([]uint32, 1<<n), uint8(64 - n)}
}

func hashPair(left, right rank) uint64 {
	return (uint64(left)<<32 | uint64(right)) * spread
}

func (t *pairTable) add(left, right, r rank) {
	hash, mask := hashPair(left, right), len(t.slots)-1
	i := int(hash >> t.shift)
	for t.slots[i&mask] != 0 {
		i++
	}
	t.slots[i&mask] = uint32(hash>>8)<<tagShift | r
}

// lookup returns the token that left and right merge to, or none.
func (v *vocabulary) lookup(left, right rank) rank {
	hash, mask := hashPair(left, right), len(v.pairs.slots)-1
	tag := uint32(hash>>8) << tagShift
	for i := int(hash >> v.pairs.shift); ; i++ {
		slot := v.pairs.slots[i&mask]
		if slot == 0 {
			return none
		}
		if slot&^slotRank == tag {
			r := slot & slotRank
			if l, rt := v.merged(r); l == left && rt == right {
				return r
			}
		}
	}
}
