package bpe

import (
	"math/bits"
	"unicode/utf8"
)

// Most pieces are short and ASCII. The quick functions find them in eight bytes
// at once. The first byte of the text is the lowest one of the word. A mask has
// the top bit set of each byte that it selects.
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

// lead returns the number of consecutive selected bytes from the lowest on, 0 to
// 8.
func lead(mask uint64) int { return bits.TrailingZeros64(^mask&tops) >> 3 }

// byteAt returns byte n of w, n < 8.
func byteAt(w uint64, n int) byte { return byte(w >> (8 * uint(n) & 63)) }

// wordContinues is the result of the functions below for a word of at least eight ASCII
// characters. If case matters, the last of the eight is a lower letter.
const wordContinues = 8

// quickCL100K returns the length of the piece with which the eight bytes of w begin. It returns
// wordContinues for a word that fills all eight, and 0 if the bytes do not determine the piece.
// More text must follow the eight bytes.
func quickCL100K(w uint64) int {
	first := ascii[byte(w)]
	letters := between(w|ones*0x20, 'a', 'z') &^ (w & tops)
	if first&letter == 0 {
		switch {
		case byte(w) >= utf8.RuneSelf:
			return 0
		case first&(number|newline) != 0:
			return quickSpan(w, first)
		case byteAt(letters, 1) == 0:
			return quickSymbols(w, first, letters, '\n')
		case byte(w) == '\'': // perhaps a contraction
			return 0
		}
		letters |= 0x80
	}
	n := lead(letters)
	if n < 8 && byteAt(w, n) >= utf8.RuneSelf {
		return 0
	}
	return n
}

// quickO200K is quickCL100K for o200k_base.
func quickO200K(w uint64) int {
	first := ascii[byte(w)]
	uppers, lowers := between(w, 'A', 'Z'), between(w, 'a', 'z')
	if first&letter == 0 {
		switch {
		case byte(w) >= utf8.RuneSelf:
			return 0
		case first&(number|newline) != 0:
			return quickSpan(w, first)
		case byteAt(uppers|lowers, 1) == 0:
			return quickSymbols(w, first, uppers|lowers, '/')
		}
		uppers |= 0x80
	}
	rest := ^uppers & tops // all but the leading upper letters …
	rest |= -rest          // … and everything after the first such byte
	n := bits.TrailingZeros64(^lowers&rest&tops) >> 3
	if n < 8 {
		if c := byteAt(w, n); c >= utf8.RuneSelf || c == '\'' {
			return 0
		}
		return n
	}
	if rest == 0 { // only upper letters: the following text decides where the word ends
		return 0
	}
	return wordContinues
}

// quickSpan returns the length of a number, or of white space that begins with a
// line end.
func quickSpan(w uint64, first class) int {
	if first&number != 0 {
		return quickNumber(w)
	}
	return quickSpace(w)
}

// quickNumber returns the length of a number, at most three digits.
func quickNumber(w uint64) int {
	n := min(3, lead(between(w, '0', '9')))
	if n < 3 && byteAt(w, n) >= 0x80 {
		return 0
	}
	return n
}

// quickSpace returns the length of a piece of white space, without the last
// character if a word or symbol follows: see classes.whitespace.
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

// quickSymbols returns the length of a piece of symbols. The piece includes an
// optional space before them, and the line ends and bytes equal to also after
// them. If w begins with other white space, it returns the length of that
// piece.
func quickSymbols(w uint64, first class, letters uint64, also byte) int {
	symbols := ^(letters | between(w, '0', '9') | blanks(w) | w) & tops
	if first&space != 0 {
		if byte(w) != ' ' || byteAt(symbols, 1) == 0 {
			return quickSpace(w)
		}
		symbols |= 0x80
	}
	n := lead(symbols)
	if n == 8 || byteAt(w, n) >= utf8.RuneSelf {
		return 0
	}
	for n < 8 && (byteAt(w, n) == '\n' || byteAt(w, n) == '\r' || byteAt(w, n) == also) {
		n++
	}
	return n & 7 // 0 if more may follow
}
