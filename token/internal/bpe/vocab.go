// Package bpe counts the tokens of text in OpenAI's encodings cl100k_base and
// o200k_base. The counts are exact: the pattern of an encoding cuts a text into
// pieces, and byte-pair encoding makes tokens of each piece. The package uses no
// regular expressions and does not build the list of tokens.
//
// A hand-written scanner finds the next piece, most often within one machine word
// (quick.go, otherwise scan_*.go). A piece that is a token counts 1, after one
// lookup in an open-addressing table (table.go). The count of any other piece
// comes from a cache (cache.go) or from merging (fill.go, merge.go). Long pieces
// are merged in windows whose seams are checked (long.go), so that every text
// takes linear time. Counting valid UTF-8 does not allocate, unless a seam check
// fails.
package bpe

import (
	_ "embed" // the packed vocabularies
	"encoding/binary"
	"unicode/utf8"
)

//go:generate go run ../genvocab -out .

//go:embed cl100k_base.bin
var cl100kPacked string

//go:embed o200k_base.bin
var o200kPacked string

// A rank is the number of a token, which is also its priority in byte-pair
// encoding: lower ranks merge first.
type rank = uint32

// none means no token. It is larger than every rank.
const none rank = 1<<32 - 1

// A packed vocabulary, as genvocab writes it, has a header of two numbers (of
// tokens and of borders), the single bytes, the merges and the borders, in this
// order.
const (
	headSize   = 8
	singles    = 256 // the first ranks are the single bytes
	mergesAt   = headSize + singles
	mergeSize  = 5
	borderSize = 5
	rankMask   = 1<<20 - 1
)

// A vocabulary is unpacked once. After that, only its cache changes.
type vocabulary struct {
	merges string // left and right half of each token, without the single bytes: mergeSize bytes each
	size   int    // number of tokens

	spelling []spelling
	text     []byte // texts of the tokens of 8 bytes and more
	longest  int    // bytes of the longest token

	texts       table // text of a token → token, without the single bytes
	pairs       table // two tokens → the token they merge to
	left, right set   // tokens that occur as the left, the right half of a merge

	single   [singles]rank           // byte → token
	bytes    [singles]byte           // single-byte token → byte
	bytePair [singles * singles]rank // two bytes → token + 1
	char     [1 << 16]rank           // code point of the basic plane, not ASCII → token + 1
	borders  borders

	cache cache
}

// load unpacks a vocabulary.
func load(packed string) *vocabulary {
	number := func(at int) int { return int(binary.LittleEndian.Uint32([]byte(packed[at : at+4]))) }
	v := &vocabulary{size: number(0), merges: packed[mergesAt:]}
	v.spell(packed[headSize:mergesAt])
	v.joinPairs()
	at := mergesAt + (v.size-singles)*mergeSize
	v.borders.read(packed[at : at+number(4)*borderSize])
	return v
}

// halves returns the two tokens that token r was merged from. r must not be a
// single byte.
func (v *vocabulary) halves(r rank) (left, right rank) {
	at := (int(r) - singles) * mergeSize
	e := v.merges[at : at+8]
	both := uint64(e[0]) | uint64(e[1])<<8 | uint64(e[2])<<16 | uint64(e[3])<<24 | uint64(e[4])<<32
	return rank(both & rankMask), rank(both >> 20 & rankMask)
}

// A spelling is the text of a token. Its top byte is the length. The low bytes
// are the text itself if it has at most 7 bytes, otherwise its offset in
// vocabulary.text.
type spelling uint64

func (s spelling) length() int { return int(s >> 56) }

// letters returns the bytes of a short spelling as a word.
func (s spelling) letters() uint64 { return uint64(s) & (1<<56 - 1) }

// short returns the spelling of the n lowest bytes of word; n is at most 7.
func short(word uint64, n int) spelling {
	return spelling(word&(1<<(8*uint(n)&63)-1) | uint64(n)<<56)
}

// longText returns the bytes of a token, or nil for a token of less than 8 bytes.
func (v *vocabulary) longText(r rank) []byte {
	s := v.spelling[r]
	if s.length() < 8 {
		return nil
	}
	return v.text[uint32(s):][:s.length()]
}

// spell computes the spellings of the tokens and inserts their texts.
func (v *vocabulary) spell(single string) {
	v.spelling = make([]spelling, v.size)
	v.text = make([]byte, 0, 4*v.size)
	v.texts = newTable(v.size)
	for r := range rank(singles) {
		v.single[single[r]], v.bytes[r] = r, single[r]
		v.spelling[r] = short(uint64(single[r]), 1)
	}
	texts := batch{table: v.texts}
	for r := rank(singles); int(r) < v.size; r++ {
		left, right := v.halves(r)
		a, b := v.spelling[left], v.spelling[right]
		if n := a.length() + b.length(); n < 8 {
			s := short(a.letters()|b.letters()<<(8*uint(a.length())&63), n)
			v.spelling[r] = s
			v.noteChar(s, r)
			texts.add(hashShort(s), r)
			continue
		}
		at := len(v.text)
		v.write(left)
		v.write(right)
		text := v.text[at:]
		v.longest = max(v.longest, len(text))
		v.spelling[r] = spelling(at) | spelling(len(text))<<56
		texts.add(hashLong(text), r)
	}
	texts.flush()
}

// write appends the bytes of a token to v.text.
func (v *vocabulary) write(r rank) {
	if s := v.spelling[r]; s.length() < 8 {
		v.text = binary.LittleEndian.AppendUint64(v.text, uint64(s))
		v.text = v.text[:len(v.text)-8+s.length()]
		return
	}
	v.text = append(v.text, v.longText(r)...)
}

// noteChar records token r if it is one character of the basic plane and not
// ASCII.
func (v *vocabulary) noteChar(s spelling, r rank) {
	if n := s.length(); n > 3 || byte(s) < utf8.RuneSelf {
		return
	}
	text := [4]byte{byte(s), byte(s >> 8), byte(s >> 16)}
	if c, size := utf8.DecodeRune(text[:s.length()]); size == s.length() && size > 1 {
		v.char[c] = r + 1
	}
}

// joinPairs inserts the merges.
func (v *vocabulary) joinPairs() {
	v.pairs, v.left, v.right = newTable(v.size), newSet(v.size), newSet(v.size)
	pairs := batch{table: v.pairs}
	for r := rank(singles); int(r) < v.size; r++ {
		left, right := v.halves(r)
		v.left.add(left)
		v.right.add(right)
		if left|right < singles {
			v.bytePair[int(v.bytes[left])<<8|int(v.bytes[right])] = r + 1
		}
		pairs.add(hashPair(left, right), r)
	}
	pairs.flush()
}
