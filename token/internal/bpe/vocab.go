// Package bpe counts the tokens of text in OpenAI's encodings cl100k_base and
// o200k_base, exactly as byte-pair encoding of the pieces that the encoding's
// pattern cuts a text into, without a regular expression and without making
// the tokens.
//
// How it works: a scanner written by hand finds the next piece (scan_*.go). A
// piece that is a token counts 1: one look into an open-addressing table
// (table.go). Any other piece is merged (merge.go), long ones in windows whose
// seams are checked (long.go), so that no text takes more than linear time and
// nothing is allocated.
package bpe

import (
	_ "embed" // the packed vocabularies
	"encoding/binary"
)

//go:embed cl100k_base.bin
var cl100kPacked string

//go:embed o200k_base.bin
var o200kPacked string

// A rank is the number of a token: its place in the order in which
// byte-pair encoding prefers to merge.
type rank = uint32

// none is no rank, and above all of them.
const none rank = 1<<32 - 1

const (
	singles   = 256 // the first ranks are the single bytes
	mergeSize = 5   // bytes of an entry of a packed vocabulary
	rankMask  = 1<<20 - 1
	asciiSize = 128
)

// vocabulary is an unpacked vocabulary. It is never changed once made.
type vocabulary struct {
	packed string // as embedded: see genvocab
	size   int    // number of tokens

	bytes  []byte   // the tokens one after the other, with 8 bytes of room behind
	starts []uint32 // where in bytes a token starts; one more than there are tokens

	short shortTable // tokens of up to 7 bytes
	eight eightTable // tokens of 8 bytes
	long  longTable  // longer tokens
	pairs pairTable  // two tokens → the one they merge to

	single   [256]rank     // byte → token
	bytePair [1 << 16]rank // two bytes → token
	char     [1 << 16]rank // code point of the basic plane, not ASCII → token
	seams    seams
}

// load unpacks a vocabulary.
func load(packed string) *vocabulary {
	v := &vocabulary{packed: packed, size: singles + (len(packed)-singles)/mergeSize}
	v.spell()
	v.index()
	v.indexPairs()
	v.indexChars()
	v.seams = findSeams(v)
	return v
}

// merged returns the two tokens that token r was merged from. r is no single byte.
func (v *vocabulary) merged(r rank) (left, right rank) {
	at := singles + (int(r)-singles)*mergeSize
	e := v.packed[at : at+8]
	both := uint64(e[0]) | uint64(e[1])<<8 | uint64(e[2])<<16 | uint64(e[3])<<24 | uint64(e[4])<<32
	return rank(both & rankMask), rank(both >> 20 & rankMask)
}

// text returns the bytes of token r.
func (v *vocabulary) text(r rank) []byte { return v.bytes[v.starts[r]:v.starts[r+1]] }

// spell writes out the bytes of all tokens.
func (v *vocabulary) spell() {
	v.bytes = make([]byte, 0, v.size*7)
	v.starts = make([]uint32, v.size+1)
	for r := range rank(singles) {
		v.single[v.packed[r]] = r
		v.starts[r] = r
		v.bytes = append(v.bytes, v.packed[r])
	}
	for r := rank(singles); int(r) < v.size; r++ {
		v.starts[r] = uint32(len(v.bytes))
		left, right := v.merged(r)
		v.bytes = append(v.bytes, v.text(left)...)
		v.bytes = append(v.bytes, v.bytes[v.starts[right]:v.starts[right+1]]...)
	}
	v.starts[v.size] = uint32(len(v.bytes))
	v.bytes = append(v.bytes, make([]byte, 8)...)
}

// index enters the tokens into the tables by their length.
func (v *vocabulary) index() {
	v.short, v.eight, v.long = newShortTable(v.size), newEightTable(v.size), newLongTable(v.size)
	for r := range rank(v.size) {
		start, n := v.starts[r], v.starts[r+1]-v.starts[r]
		word := binary.LittleEndian.Uint64(v.bytes[start:])
		switch {
		case n < 8:
			v.short.add(shortKey(word, int(n)))
		case n == 8:
			v.eight.add(word)
		default:
			v.long.add(hashLong(v.text(r)), r)
		}
	}
}

// indexPairs enters the merges.
func (v *vocabulary) indexPairs() {
	v.pairs = newPairTable(v.size)
	for i := range v.bytePair {
		v.bytePair[i] = none
	}
	for r := rank(singles); int(r) < v.size; r++ {
		left, right := v.merged(r)
		v.pairs.add(left, right, r)
		if left < singles && right < singles {
			v.bytePair[uint(v.packed[left])<<8|uint(v.packed[right])] = r
		}
	}
}
