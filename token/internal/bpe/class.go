package bpe

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// A class says what the patterns want to know about a character.
type class uint8

const (
	letter  class = 1 << iota // \p{L}
	number                    // \p{N}
	space                     // \s
	newline                   // \r or \n, which are also space
	upper                     // \p{Lu} \p{Lt} \p{Lm} \p{Lo} \p{M}
	lower                     // \p{Ll} \p{Lm} \p{Lo} \p{M}
)

// Nothing of the above: punctuation, symbols, control characters. Marks are
// upper and lower, but no letter.
const visible = letter | number | space

// ascii holds the classes of single-byte characters; of bytes from 0x80 it
// holds none.
var ascii = [256]class{
	'\t': space, '\n': space | newline, '\v': space, '\f': space, '\r': space | newline, ' ': space,
	'0': number, '1': number, '2': number, '3': number, '4': number, '5': number, '6': number, '7': number, '8': number, '9': number,
	'A': letter | upper, 'B': letter | upper, 'C': letter | upper, 'D': letter | upper, 'E': letter | upper, 'F': letter | upper,
	'G': letter | upper, 'H': letter | upper, 'I': letter | upper, 'J': letter | upper, 'K': letter | upper, 'L': letter | upper,
	'M': letter | upper, 'N': letter | upper, 'O': letter | upper, 'P': letter | upper, 'Q': letter | upper, 'R': letter | upper,
	'S': letter | upper, 'T': letter | upper, 'U': letter | upper, 'V': letter | upper, 'W': letter | upper, 'X': letter | upper,
	'Y': letter | upper, 'Z': letter | upper,
	'a': letter | lower, 'b': letter | lower, 'c': letter | lower, 'd': letter | lower, 'e': letter | lower, 'f': letter | lower,
	'g': letter | lower, 'h': letter | lower, 'i': letter | lower, 'j': letter | lower, 'k': letter | lower, 'l': letter | lower,
	'm': letter | lower, 'n': letter | lower, 'o': letter | lower, 'p': letter | lower, 'q': letter | lower, 'r': letter | lower,
	's': letter | lower, 't': letter | lower, 'u': letter | lower, 'v': letter | lower, 'w': letter | lower, 'x': letter | lower,
	'y': letter | lower, 'z': letter | lower,
}

// classes is a two-stage table of the classes of all code points: which block
// of 256 a code point is in, and the blocks that differ.
type classes struct {
	block  [(unicode.MaxRune + 1) / 256]uint8
	blocks [][256]class
}

// unicodeClasses is made from the tables of package unicode when first asked
// for, so that they are those of the Go release the program is built with.
var unicodeClasses = sync.OnceValue(newClasses)

func newClasses() *classes {
	all := make([]class, unicode.MaxRune+1)
	for _, set := range []struct {
		table *unicode.RangeTable
		class class
	}{
		{unicode.L, letter}, {unicode.N, number}, {unicode.White_Space, space}, {unicode.M, upper | lower},
		{unicode.Lu, upper}, {unicode.Lt, upper}, {unicode.Ll, lower}, {unicode.Lm, upper | lower}, {unicode.Lo, upper | lower},
	} {
		mark(all, set.table, set.class)
	}
	all['\n'] |= newline
	all['\r'] |= newline
	return compress(all)
}

func mark(all []class, t *unicode.RangeTable, c class) {
	for _, r := range t.R16 {
		for i := int(r.Lo); i <= int(r.Hi); i += int(r.Stride) {
			all[i] |= c
		}
	}
	for _, r := range t.R32 {
		for i := int(r.Lo); i <= int(r.Hi); i += int(r.Stride) {
			all[i] |= c
		}
	}
}

func compress(all []class) *classes {
	c := &classes{}
	seen := map[[256]class]uint8{}
	for i := range c.block {
		block := [256]class(all[i*256:])
		at, ok := seen[block]
		if !ok {
			at = uint8(len(c.blocks))
			seen[block] = at
			c.blocks = append(c.blocks, block)
		}
		c.block[i] = at
	}
	return c
}

func (c *classes) of(r rune) class {
	return c.blocks[c.block[uint32(r)>>8]][uint8(r)]
}

// at returns the class and the size of the character at b[i]; i < len(b). A
// byte that is not valid UTF-8 is U+FFFD of size 1.
func (c *classes) at(b []byte, i int) (class, int) {
	if b[i] < utf8.RuneSelf {
		return ascii[b[i]], 1
	}
	r, size := utf8.DecodeRune(b[i:])
	return c.of(r), size
}
