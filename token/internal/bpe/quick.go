package bpe

import "math/bits"

// Most pieces are short and ASCII. They are found in eight bytes at once: a
// mask has the top bit of each byte set that it is about; the first byte of the
// text is the lowest one of the word.
const (
	tops = 0x8080808080808080
	ones = 0x0101010101010101
)

// between masks the ASCII bytes of w from lo to hi.
func between(w uint64, lo, hi uint64) uint64 {
	low := w &^ tops
	return (low + ones*(0x80-lo)) &^ (low + ones*(0x7F-hi)) &^ w & tops
}

// equal masks the bytes of w that are c.
func equal(w uint64, c uint64) uint64 {
	x := w ^ ones*c
	return ^((x&^tops + ones*0x7F) | x) & tops
}

func lineEnds(w uint64) uint64 { return equal(w, '\n') | equal(w, '\r') }

func blanks(w uint64) uint64 { return between(w, '\t', '\r') | equal(w, ' ') }

// lead returns how many bytes from the lowest on are in a mask, 0 to 8.
func lead(mask uint64) int { return bits.TrailingZeros64(^mask&tops) >> 3 }

// byteAt returns byte n of w, n < 8.
func byteAt(w uint64, n int) byte { return byte(w >> (8 * uint(n) & 63)) }

// A start says what a piece may be that begins with a byte.
type start uint8

const (
	startOther  start = iota // not ASCII
	startWord                // a letter
	startMark                // a symbol: itself before a word, or symbols
	startBlank               // white space within a line: before a word, or white space
	startSpace               // the space: as a blank, or before symbols
	startLine                // a line end
	startNumber              // a digit
)

var starts = func() (s [256]start) {
	for i := range 128 {
		switch c := ascii[i]; {
		case c&letter != 0:
			s[i] = startWord
		case c&number != 0:
			s[i] = startNumber
		case c&newline != 0:
			s[i] = startLine
		case i == ' ':
			s[i] = startSpace
		case c&space != 0:
			s[i] = startBlank
		default:
			s[i] = startMark
		}
	}
	return s
}()

// quickCL100K returns the length of the piece that the eight bytes of w begin
// with, or 0 if they don't tell. More text follows them.
func quickCL100K(w uint64) int {
	first := starts[byte(w)]
	letters := between(w|ones*0x20, 'a', 'z') &^ (w & tops)
	switch first {
	case startOther:
		return 0
	case startNumber:
		return quickNumber(w)
	case startLine:
		return quickSpace(w)
	case startWord:
	default:
		if byteAt(letters, 1) == 0 {
			return quickSymbols(w, first, letters, '\n')
		}
		if byte(w) == '\'' { // perhaps a contraction
			return 0
		}
		letters |= 0x80
	}
	n := lead(letters)
	if n == 8 || byteAt(w, n) >= 0x80 {
		return 0
	}
	return n
}

// quickO200K is the same for o200k_base.
func quickO200K(w uint64) int {
	first := starts[byte(w)]
	uppers, lowers := between(w, 'A', 'Z'), between(w, 'a', 'z')
	switch first {
	case startOther:
		return 0
	case startNumber:
		return quickNumber(w)
	case startLine:
		return quickSpace(w)
	case startWord:
	default:
		if byteAt(uppers|lowers, 1) == 0 {
			return quickSymbols(w, first, uppers|lowers, '/')
		}
		uppers |= 0x80
	}
	rest := ^uppers & tops // what is not in the upper letters at the beginning …
	rest |= -rest          // … and all behind
	n := bits.TrailingZeros64(^lowers&rest&tops) >> 3
	if n == 8 || byteAt(w, n) >= 0x80 || byteAt(w, n) == '\'' {
		return 0
	}
	return n
}

// quickNumber is a number of up to three digits.
func quickNumber(w uint64) int {
	n := min(3, lead(between(w, '0', '9')))
	if n < 3 && byteAt(w, n) >= 0x80 {
		return 0
	}
	return n
}

// quickSpace is white space that no word or symbol follows directly: see
// classes.whitespace.
func quickSpace(w uint64) int {
	n := lead(blanks(w))
	if n == 8 || byteAt(w, n) >= 0x80 {
		return 0
	}
	if lines := lineEnds(w) & (1<<(8*uint(n)&63) - 1); lines != 0 {
		return bits.Len64(lines) >> 3
	}
	return max(1, n-1)
}

// quickSymbols is symbols, with a space before and line ends behind them, and
// what the pattern takes with the line ends; or white space.
func quickSymbols(w uint64, first start, letters uint64, also byte) int {
	symbols := ^(letters | between(w, '0', '9') | blanks(w) | w) & tops
	switch first {
	case startBlank:
		return quickSpace(w)
	case startSpace:
		if byteAt(symbols, 1) == 0 {
			return quickSpace(w)
		}
		symbols |= 0x80
	}
	n := lead(symbols)
	if n == 8 || byteAt(w, n) >= 0x80 {
		return 0
	}
	for n < 8 && (byteAt(w, n) == '\n' || byteAt(w, n) == '\r' || byteAt(w, n) == also) {
		n++
	}
	return n & 7
}
