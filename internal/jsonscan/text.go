package jsonscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// specials marks the bytes of x with a meaning inside a JSON string (a quote, a
// backslash, a control character) by their high bits. The subtraction borrows
// into the high bit of a byte that is zero or below the bound, and may borrow
// further: the lowest mark is exact, higher ones may be wrong.
func specials(x uint64) uint64 {
	quote, slash := x^('"'*ones), x^('\\'*ones)
	return (((x - ' '*ones) &^ x) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)) & highs
}

// special returns the offset of the first byte at or after i that has a meaning
// inside a JSON string, or len(data).
func special(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		if hit := specials(binary.LittleEndian.Uint64(data[i:])); hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(data)
}

// Unquote decodes one JSON string, quotes included. Invalid UTF-8, and escapes
// of half a surrogate pair, become U+FFFD, like in encoding/json.
func Unquote(quoted []byte) (string, error) {
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", fmt.Errorf("%w: a string is wanted", errSyntax)
	}
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), nil
	}
	out := make([]byte, 0, len(inner)+8)
	for i := 0; i < len(inner); {
		if inner[i] != '\\' {
			out, i = appendPlain(out, inner, i)
			continue
		}
		var n int
		if out, n = appendUnescaped(out, inner[i:]); n == 0 {
			return "", fmt.Errorf("%w: an escape in a string", errSyntax)
		}
		i += n
	}
	return string(out), nil
}

// appendPlain copies the bytes before the next backslash.
func appendPlain(out, inner []byte, i int) ([]byte, int) {
	end := len(inner)
	if n := bytes.IndexByte(inner[i:], '\\'); n >= 0 {
		end = i + n
	}
	if utf8.Valid(inner[i:end]) {
		return append(out, inner[i:end]...), end
	}
	for i < end {
		r, n := utf8.DecodeRune(inner[i:end])
		out = utf8.AppendRune(out, r)
		i += n
	}
	return out, end
}

// appendUnescaped decodes the escape at the start of s and returns its length; 0 =
// not an escape.
func appendUnescaped(out, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return out, 0
	}
	switch c := s[1]; c {
	case '"', '\\', '/':
		return append(out, c), 2
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	}
	r := hexRune(s)
	if r < 0 {
		return out, 0
	}
	if utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, hexRune(s[6:])); pair != utf8.RuneError {
			return utf8.AppendRune(out, pair), 12
		}
	}
	return utf8.AppendRune(out, r), 6 // U+FFFD for half a pair
}

// hexRune reads \uXXXX; -1 = not such an escape.
func hexRune(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || !isHex(s[2:6]) {
		return -1
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

func isHex(s []byte) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

const hex = "0123456789abcdef"

// AppendQuote appends s as a JSON string. Unlike encoding/json it does not escape <, >
// and &. Invalid UTF-8 becomes U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	dst = append(slices.Grow(dst, len(s)+2), '"')
	start := 0
	for i := unusual(s, 0); i < len(s); i = unusual(s, i) {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// unusual returns the offset of the first byte at or after i that is not ASCII
// or has a meaning inside a JSON string, or len(s).
func unusual(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if hit := specials(x) | x&highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
