package bpe

import (
	"encoding/binary"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"
)

// An Encoding counts tokens. Its methods may be called from many goroutines at
// once. The vocabulary is unpacked at the first call.
type Encoding struct {
	load func() *vocabulary
	next func(c *classes, b []byte, i int) int
}

// The encodings.
var (
	CL100K = &Encoding{sync.OnceValue(func() *vocabulary { return load(cl100kPacked) }), nextCL100K}
	O200K  = &Encoding{sync.OnceValue(func() *vocabulary { return load(o200kPacked) }), nextO200K}
)

// Load unpacks the vocabulary, if that has not been done.
func (e *Encoding) Load() {
	e.load()
	unicodeClasses()
}

// Count returns the number of tokens of text. It allocates nothing, unless the
// text is not valid UTF-8: each byte that is not counts as U+FFFD.
func (e *Encoding) Count(text string) int {
	if !utf8.ValidString(text) {
		text = valid(text)
	}
	n, _ := e.CountTo(text, 0, len(text))
	return n
}

// CountTo counts the pieces of text that begin in [from, to) and returns where
// the next piece begins. text must be valid UTF-8, and from 0 or what an
// earlier call returned.
func (e *Encoding) CountTo(text string, from, to int) (count, next int) {
	v, c := e.load(), unicodeClasses()
	b := unsafe.Slice(unsafe.StringData(text), len(text)) // read only
	var tokens, pairs [window]rank
	p := parts{token: tokens[:], pair: pairs[:]}
	for from < to {
		end := e.next(c, b, from)
		count += v.count(&p, b[from:end])
		from = end
	}
	return count, from
}

// count returns the number of tokens of a piece.
func (v *vocabulary) count(p *parts, piece []byte) int {
	if v.has(piece) {
		return 1
	}
	return v.countLong(p, piece)
}

// has reports whether a piece is a token.
func (v *vocabulary) has(piece []byte) bool {
	switch n := len(piece); {
	case n < 8:
		var word uint64
		for i, c := range piece {
			word |= uint64(c) << (8 * i)
		}
		return v.short.has(shortKey(word, n))
	case n == 8:
		return v.eight.has(binary.LittleEndian.Uint64(piece))
	}
	return v.long.has(v, piece)
}

// valid replaces each byte that is not valid UTF-8 by U+FFFD.
func valid(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
