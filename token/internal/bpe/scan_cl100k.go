package bpe

import "unicode/utf8"

// The pattern of cl100k_base, alternatives in order of preference:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+

// nextCL100K returns the end of the piece that begins at b[i]; i < len(b).
func nextCL100K(c *classes, b []byte, i int) int {
	cls, size := c.at(b, i)
	after := i + size
	switch {
	case cls&letter != 0:
		return c.run(b, after, letter)
	case cls&number != 0:
		return c.numbers(b, after)
	case cls&newline != 0:
		return c.whitespace(b, i)
	}
	if n := contraction(b, i); n > 0 {
		return i + n
	}
	var next class
	if after < len(b) {
		next, _ = c.at(b, after)
		if next&letter != 0 {
			return c.run(b, after, letter)
		}
	}
	if cls&space != 0 && (b[i] != ' ' || after == len(b) || next&visible != 0) {
		return c.whitespace(b, i)
	}
	return newlines(b, c.symbols(b, after), '\n')
}

// run returns the end of the run of characters of a class that begins at b[i].
func (c *classes) run(b []byte, i int, cls class) int {
	for i < len(b) {
		if b[i] < utf8.RuneSelf {
			if ascii[b[i]]&cls == 0 {
				break
			}
			i++
			continue
		}
		r, size := decode(b, i)
		if c.classOf(r)&cls == 0 {
			break
		}
		i += size
	}
	return i
}

// symbols returns the end of the run of symbols from b[i] on: characters that are
// neither space nor letter nor number.
func (c *classes) symbols(b []byte, i int) int {
	for i < len(b) {
		cls, size := c.at(b, i)
		if cls&visible != 0 {
			break
		}
		i += size
	}
	return i
}

// newlines returns the end of the run of line ends, and of bytes equal to also,
// from b[i] on.
func newlines(b []byte, i int, also byte) int {
	for i < len(b) && (b[i] == '\n' || b[i] == '\r' || b[i] == also) {
		i++
	}
	return i
}

// numbers returns the end of a number whose first digit ends at b[i]. A number
// has at most three digits.
func (c *classes) numbers(b []byte, i int) int {
	for range 2 {
		if i == len(b) {
			break
		}
		cls, size := c.at(b, i)
		if cls&number == 0 {
			break
		}
		i += size
	}
	return i
}

// whitespace returns the end of a piece that begins with the white space at b[i].
// The piece ends after the last line end in it. Without a line end, it takes all
// white space at the end of the text; elsewhere it leaves the last character to
// the following word, unless it has only one.
func (c *classes) whitespace(b []byte, i int) int {
	line, last, end := 0, i, i
	for end < len(b) {
		cls, size := c.at(b, end)
		if cls&space == 0 {
			break
		}
		last = end
		end += size
		if cls&newline != 0 {
			line = end
		}
	}
	switch {
	case line > 0:
		return line
	case end == len(b) || last == i:
		return end
	}
	return last
}

// contraction returns the length of the contraction at b[i] ('s, 'LL, …) or 0.
func contraction(b []byte, i int) int {
	if i+1 >= len(b) || b[i] != '\'' {
		return 0
	}
	first := b[i+1] | 0x20
	switch first {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v', 'l':
		if i+2 == len(b) {
			return 0
		}
		if second := b[i+2] | 0x20; first == 'l' && second == 'l' || first != 'l' && second == 'e' {
			return 3
		}
	}
	return 0
}
