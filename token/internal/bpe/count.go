package bpe

import (
	"encoding/binary"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"
)

// An Encoding counts tokens. Its methods may be called concurrently. The
// vocabulary is unpacked at the first call.
type Encoding struct {
	load  func() *vocabulary
	cased bool // pieces depend on letter case, as in o200k_base
}

// The encodings.
var (
	CL100K = &Encoding{sync.OnceValue(func() *vocabulary { return load(cl100kPacked) }), false}
	O200K  = &Encoding{sync.OnceValue(func() *vocabulary { return load(o200kPacked) }), true}
)

// Load unpacks the vocabulary if it is still packed.
func (e *Encoding) Load() {
	e.load()
	unicodeClasses()
}

// Count returns the number of tokens of text. Each byte that is not valid UTF-8
// counts as U+FFFD. Count allocates only if there are such bytes.
func (e *Encoding) Count(text string) int {
	text = Valid(text)
	n, _ := e.CountTo(text, 0, len(text))
	return n
}

// pool holds parts for reuse by later calls.
var pool = sync.Pool{New: func() any { return newParts(window) }}

// CountTo counts the pieces of text that begin in [from, to), and returns the
// start of the next piece. text must be valid UTF-8; from must be 0 or the result
// of an earlier call.
func (e *Encoding) CountTo(text string, from, to int) (count, next int) {
	v, c := e.load(), unicodeClasses()
	b := unsafe.Slice(unsafe.StringData(text), len(text)) // read only
	p := pool.Get().(*parts)
	defer pool.Put(p)
	for ; from < min(to, len(b)-7); from = next {
		w := binary.LittleEndian.Uint64(b[from:])
		var n int
		if e.cased {
			n = quickO200K(w)
		} else {
			n = quickCL100K(w)
		}
		switch n {
		case 0:
			n = e.next(c, b, from) - from
		case wordContinues:
			n = e.rest(c, b, from+wordContinues) - from
		}
		next = from + n
		if n == 1 || n < 8 && v.hasShort(short(w, n)) || n >= 8 && v.hasLong(b[from:next]) {
			count++
			continue
		}
		count += v.remembered(p, b, from, n)
	}
	for ; from < to; from = next {
		next = e.next(c, b, from)
		count += v.count(p, b[from:next])
	}
	return count, from
}

func (e *Encoding) next(c *classes, b []byte, i int) int {
	if e.cased {
		return nextO200K(c, b, i)
	}
	return nextCL100K(c, b, i)
}

// rest returns the end of a word that continues at b[i].
func (e *Encoding) rest(c *classes, b []byte, i int) int {
	if !e.cased {
		return c.run(b, i, letter)
	}
	end := c.run(b, i, lower)
	return end + contraction(b, end)
}

// count returns the number of tokens of a piece.
func (v *vocabulary) count(p *parts, piece []byte) int {
	if v.has(piece) {
		return 1
	}
	return v.countLong(p, piece)
}

// remembered returns the number of tokens of the piece of n bytes at b[from],
// which is not a token. It uses the cache.
func (v *vocabulary) remembered(p *parts, b []byte, from, n int) int {
	w, ok := wordsOf(b, from, n)
	if !ok {
		return v.countLong(p, b[from:from+n])
	}
	slot := v.cache.slot(w)
	if tokens := slot.find(w); tokens > 0 {
		return tokens
	}
	tokens := v.countLong(p, b[from:from+n])
	slot.put(w, tokens)
	return tokens
}

// has reports whether a piece is a token.
func (v *vocabulary) has(piece []byte) bool {
	switch n := len(piece); {
	case n == 1:
		return true
	case n < 8:
		var word uint64
		for i, c := range piece {
			word |= uint64(c) << (8 * i)
		}
		return v.hasShort(short(word, n))
	}
	return v.hasLong(piece)
}

// Valid returns text with each byte that is not valid UTF-8 replaced by U+FFFD.
func Valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
