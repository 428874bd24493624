package bpe

import (
	"encoding/binary"
	"math/bits"
)

// A table finds tokens by a hash, with open addressing and linear probing. A slot holds
// a token in its low 18 bits and 14 bits of the hash above them, so that most wrong
// slots are skipped without looking at the token. 0 marks a free slot, because token 0,
// a single byte, is in no table.
type table []uint32

const (
	rankBits = 18
	slotRank = 1<<rankBits - 1
)

// newTable returns a table for a number of entries. It writes to each page of the
// table first: if a fresh page is first read and then written, the operating
// system maps it twice.
func newTable(entries int) table {
	const page = 4096 / 4
	t := make(table, entries*5/3)
	for i := 0; i < len(t); i += page {
		t[i] = 0
	}
	return t
}

// home returns the slot at which the search for a hash begins.
func (t table) home(hash uint64) int {
	hi, _ := bits.Mul64(hash, uint64(len(t)))
	return int(hi)
}

// next returns the slot after slot i.
func (t table) next(i int) int {
	if i++; i < len(t) {
		return i
	}
	return 0
}

// tag returns the bits of a hash that are stored in a slot.
func tag(hash uint64) uint32 { return uint32(hash>>16) &^ slotRank }

// A batch collects entries of a table and inserts them together, so that the
// processor can fetch all their slots in parallel.
type batch struct {
	table table
	n     int
	entry [batchSize]uint32
	home  [batchSize]int
}

const batchSize = 64

func (b *batch) add(hash uint64, r rank) {
	b.entry[b.n], b.home[b.n] = tag(hash)|r, b.table.home(hash)
	if b.n++; b.n == batchSize {
		b.flush()
	}
}

// flush inserts the collected entries.
func (b *batch) flush() {
	var first [batchSize]uint32
	for k, i := range b.home[:b.n] {
		first[k] = b.table[i]
	}
	for k, i := range b.home[:b.n] {
		if first[k] != 0 {
			i = b.table.next(i)
		}
		for b.table[i] != 0 {
			i = b.table.next(i)
		}
		b.table[i] = b.entry[k]
	}
	b.n = 0
}

const spread = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio

// hashShort hashes the spelling of a short text.
func hashShort(s spelling) uint64 { return uint64(s) * spread }

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

func hashPair(left, right rank) uint64 { return (uint64(left)<<rankBits | uint64(right)) * spread }

// hasShort reports whether a short text of more than one byte is a token.
func (v *vocabulary) hasShort(s spelling) bool {
	hash := hashShort(s)
	want := tag(hash)
	for i := v.texts.home(hash); ; i = v.texts.next(i) {
		slot := v.texts[i]
		if slot == 0 {
			return false
		}
		if slot&^slotRank == want && v.spelling[slot&slotRank] == s {
			return true
		}
	}
}

// hasLong reports whether a text of 8 bytes or more is a token.
func (v *vocabulary) hasLong(text []byte) bool {
	if len(text) > v.longest {
		return false
	}
	hash := hashLong(text)
	want := tag(hash)
	for i := v.texts.home(hash); ; i = v.texts.next(i) {
		slot := v.texts[i]
		if slot == 0 {
			return false
		}
		if slot&^slotRank == want && string(v.longText(slot&slotRank)) == string(text) {
			return true
		}
	}
}

// find returns the token that left and right merge to, or none.
func (v *vocabulary) find(left, right rank) rank {
	if !v.left.has(left) || !v.right.has(right) {
		return none
	}
	hash := hashPair(left, right)
	want := tag(hash)
	for i := v.pairs.home(hash); ; i = v.pairs.next(i) {
		slot := v.pairs[i]
		if slot == 0 {
			return none
		}
		if slot&^slotRank == want {
			if a, b := v.halves(slot & slotRank); a == left && b == right {
				return slot & slotRank
			}
		}
	}
}

// set is a set of tokens.
type set []uint64

func newSet(tokens int) set { return make(set, tokens/64+1) }

func (s set) add(r rank) { s[r/64] |= 1 << (r % 64) }

func (s set) has(r rank) bool { return s[r/64]>>(r%64)&1 != 0 }
