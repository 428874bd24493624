package redact

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// escapeLength returns the length of the escape at the beginning of s, 0 if it
// is not valid in JSON.
func escapeLength(s string) int {
	if len(s) < 2 {
		return 0
	}
	if s[1] != 'u' {
		if simpleEscapes[s[1]] == 0 {
			return 0
		}
		return 2
	}
	if len(s) < 6 || run(s, 2, 4, isHex) != 6 {
		return 0
	}
	return 6
}

// simpleEscapes has the characters that escapes of two bytes stand for, by their second
// byte.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// decodeEscape decodes the valid escape at the beginning of s. n is its length;
// a surrogate pair counts as one escape.
func decodeEscape(s string) (c rune, n int) {
	if s[1] == 'u' {
		return decodeUnicode(s)
	}
	if simple := simpleEscapes[s[1]]; simple != 0 {
		return rune(simple), 2
	}
	return rune(s[1]), 2
}

func decodeUnicode(s string) (c rune, n int) {
	c = hex4(s[2:6])
	if !utf16.IsSurrogate(c) {
		return c, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' && run(s, 8, 4, isHex) == 12 {
		if pair := utf16.DecodeRune(c, hex4(s[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(s string) rune {
	var c rune
	for i := range 4 {
		d := rune(lower(s[i]))
		if d >= 'a' {
			d -= 'a' - 10
		} else {
			d -= '0'
		}
		c = c<<4 | d
	}
	return c
}

// decoded returns the text of a string, with its escapes decoded.
func (w *walker) decoded(lit literal) string {
	raw := w.s[lit.from:lit.to]
	if !lit.escaped {
		return raw
	}
	b := make([]byte, 0, len(raw))
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			b = append(b, raw...)
			return unsafe.String(unsafe.SliceData(b), len(b))
		}
		b = append(b, raw[:i]...)
		if simple := simpleEscapes[raw[i+1]]; simple != 0 {
			b = append(b, simple)
			raw = raw[i+2:]
			continue
		}
		c, n := decodeEscape(raw[i:])
		if c < utf8.RuneSelf {
			b = append(b, byte(c))
		} else {
			b = utf8.AppendRune(b, c)
		}
		raw = raw[i+n:]
	}
}

// cursor maps offsets in a decoded string to offsets in the raw string. Offsets
// must be requested in order.
type cursor struct {
	raw     string
	by      *spelling
	at, out int // raw[:at] decodes to out bytes
	base    int
}

// offset returns the raw offset of a decoded one. If the position is within a character
// that is written as an escape, it returns the start of the escape, or the end if up is
// set.
func (c *cursor) offset(to int, up bool) int {
	for c.out < to {
		i := strings.IndexByte(c.raw[c.at:], c.by.sign)
		if i < 0 || c.out+i >= to {
			c.at += to - c.out
			c.out = to
			break
		}
		c.at += i
		c.out += i
		text, n := c.by.read(c.raw, c.at)
		size := len(text)
		if n == 0 {
			size, n = 1, 1 // this byte begins no escape
		}
		if c.out+size > to && !up {
			break
		}
		c.at += n
		c.out += size
	}
	return c.base + c.at
}
