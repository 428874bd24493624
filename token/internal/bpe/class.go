package bpe

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// A class holds the properties of a character that the patterns use, as bits.
type class uint8

const (
	letter  class = 1 << iota // \p{L}
	number                    // \p{N}
	space                     // \s
	newline                   // \r or \n, which are also space
	upper                     // \p{Lu} \p{Lt} \p{Lm} \p{Lo} \p{M}
	lower                     // \p{Ll} \p{Lm} \p{Lo} \p{M}
)

// visible masks these classes. A character without any of them is punctuation, a
// symbol or a control character. Marks are upper and lower, but not letters.
const visible = letter | number | space

// ascii holds the classes of single-byte characters. The entries from 0x80 on are
// 0.
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

// classes is a two-stage table of the classes of all code points: block maps the
// high bits of a code point to a block of 256 classes. Block 0 has no classes.
type classes struct {
	block  [(unicode.MaxRune + 1) / 256]uint16
	blocks [][256]class
}

// unicodeClasses is built on first use from the tables of package unicode, so that they
// match the Go release that built the program.
var unicodeClasses = sync.OnceValue(newClasses)

func newClasses() *classes {
	c := &classes{blocks: make([][256]class, 1, 1024)}
	c.mark(unicode.L, letter)
	c.mark(unicode.N, number)
	c.mark(unicode.White_Space, space)
	c.mark(unicode.M, upper|lower)
	c.mark(unicode.Lu, upper)
	c.mark(unicode.Lt, upper)
	c.mark(unicode.Ll, lower)
	c.mark(unicode.Lm, upper|lower)
	c.mark(unicode.Lo, upper|lower)
	return c
}

// mark adds a class to the characters of a table that are not ASCII.
func (c *classes) mark(t *unicode.RangeTable, cls class) {
	for _, r := range t.R16 {
		c.markRange(int(r.Lo), int(r.Hi), int(r.Stride), cls)
	}
	for _, r := range t.R32 {
		c.markRange(int(r.Lo), int(r.Hi), int(r.Stride), cls)
	}
}

func (c *classes) markRange(lo, hi, stride int, cls class) {
	for r := lo; r <= hi; r += stride {
		if c.block[r>>8] == 0 {
			c.block[r>>8] = uint16(len(c.blocks))
			c.blocks = append(c.blocks, [256]class{})
		}
		c.blocks[c.block[r>>8]][r&0xFF] |= cls
	}
}

// classOf returns the class of a character that is not ASCII.
func (c *classes) classOf(r rune) class {
	return c.blocks[c.block[uint32(r)>>8]][uint8(r)]
}

// at returns the class and the size of the character at b[i]; i < len(b), and
// b is valid UTF-8.
func (c *classes) at(b []byte, i int) (class, int) {
	if b[i] < utf8.RuneSelf {
		return ascii[b[i]], 1
	}
	r, size := decode(b, i)
	return c.classOf(r), size
}

// decode returns the character at b[i], which is not ASCII, and its size.
func decode(b []byte, i int) (rune, int) {
	switch first := rune(b[i]); {
	case first < 0xE0:
		return first&0x1F<<6 | rune(b[i+1]&0x3F), 2
	case first < 0xF0:
		return first&0x0F<<12 | rune(b[i+1]&0x3F)<<6 | rune(b[i+2]&0x3F), 3
	default:
		return first&0x07<<18 | rune(b[i+1]&0x3F)<<12 | rune(b[i+2]&0x3F)<<6 | rune(b[i+3]&0x3F), 4
	}
}
