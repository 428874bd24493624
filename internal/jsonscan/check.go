package jsonscan

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth limits the nesting of values, as encoding/json does.
const maxDepth = 10_000

// A SyntaxError holds the offset at which the input is no longer JSON.
type SyntaxError struct {
	Offset int  // in bytes, from 0
	End    bool // the input ends too early
}

func (e *SyntaxError) Error() string {
	switch {
	case e.Offset == 0 && e.End:
		return fmt.Sprintf("%v: it is empty", errSyntax)
	case e.Offset == 0:
		return fmt.Sprintf("%v: it does not begin with a value, such as { or [", errSyntax)
	case e.End:
		return fmt.Sprintf("%v: it ends at byte %d in the midst of a value", errSyntax, e.Offset)
	}
	return fmt.Sprintf("%v at byte %d", errSyntax, e.Offset)
}

func (e *SyntaxError) Unwrap() error { return errSyntax }

func syntaxError(data []byte, at int) error {
	return &SyntaxError{Offset: at, End: at >= len(data)}
}

// Check returns a *[SyntaxError] unless data is one JSON value, with white space
// around it. It accepts the same input as [encoding/json.Valid].
func Check(data []byte) error {
	end := skip(data, Space(data, 0), 0, nil)
	if end < 0 {
		return syntaxError(data, ^end)
	}
	if end = Space(data, end); end < len(data) {
		return syntaxError(data, end)
	}
	return nil
}

// The functions below check the value at i and return the offset after it or, for
// invalid input, the complement of the offset of the error.

// skip checks any value. If e is not nil and the value is an object, skip records
// its members in e.
func skip(data []byte, i, depth int, e *Element) int {
	if i >= len(data) {
		return ^i
	}
	switch c := data[i]; {
	case c == '"':
		return skipString(data, i+1)
	case c == '{':
		return skipObject(data, i+1, depth+1, e)
	case c == '[':
		return skipArray(data, i+1, depth+1)
	case c == '-' || '0' <= c && c <= '9':
		return skipNumber(data, i)
	case c == 't':
		return skipWord(data, i, "true")
	case c == 'f':
		return skipWord(data, i, "false")
	case c == 'n':
		return skipWord(data, i, "null")
	}
	return ^i
}

func skipWord(data []byte, i int, word string) int {
	for k := range len(word) {
		if i+k >= len(data) || data[i+k] != word[k] {
			return ^(i + k)
		}
	}
	return i + len(word)
}

// skipString begins after the quote.
func skipString(data []byte, i int) int {
	for i+8 <= len(data) {
		hit := specials(binary.LittleEndian.Uint64(data[i:]))
		if hit == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(hit) / 8
		if data[i] == '"' {
			return i + 1
		}
		if data[i] == '\\' && i+1 < len(data) && class[data[i+1]]&escapes != 0 {
			i += 2
			continue
		}
		if i = skipEscape(data, i); i < 0 {
			return i
		}
	}
	for i < len(data) && data[i] != '"' {
		if i = skipEscape(data, i); i < 0 {
			return i
		}
	}
	if i >= len(data) {
		return ^i
	}
	return i + 1
}

// skipEscape skips a plain byte or an escape at i, inside a string.
func skipEscape(data []byte, i int) int {
	switch {
	case data[i] < ' ':
		return ^i
	case data[i] != '\\':
		return i + 1
	case i+1 >= len(data):
		return ^len(data)
	case class[data[i+1]]&escapes != 0:
		return i + 2
	case data[i+1] == 'u' && i+6 <= len(data) && isHex(data[i+2:i+6]):
		return i + 6
	}
	return ^(i + 1)
}

func skipNumber(data []byte, i int) int {
	if data[i] == '-' {
		i++
	}
	switch {
	case i < len(data) && data[i] == '0':
		i++
	default:
		if i = skipDigits(data, i); i < 0 {
			return i
		}
	}
	if i < len(data) && data[i] == '.' {
		if i = skipDigits(data, i+1); i < 0 {
			return i
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		return skipDigits(data, i)
	}
	return i
}

// skipDigits requires at least one digit.
func skipDigits(data []byte, i int) int {
	start := i
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	if i == start {
		return ^i
	}
	return i
}

// skipArray begins after the bracket.
func skipArray(data []byte, i, depth int) int {
	if depth > maxDepth {
		return ^(i - 1)
	}
	if i = Space(data, i); i < len(data) && data[i] == ']' {
		return i + 1
	}
	for {
		if i = skip(data, i, depth, nil); i < 0 {
			return i
		}
		var done bool
		if i, done = after(data, i, ']'); done || i < 0 {
			return i
		}
	}
}

// skipObject begins after the brace.
func skipObject(data []byte, i, depth int, e *Element) int {
	if depth > maxDepth {
		return ^(i - 1)
	}
	if i = Space(data, i); i < len(data) && data[i] == '}' {
		return i + 1
	}
	for {
		key := i
		var v int
		if v = skipKey(data, i); v < 0 {
			return v
		}
		if i = skip(data, v, depth, nil); i < 0 {
			return i
		}
		if e != nil {
			e.note(data[key:v], Span{v, i})
		}
		var done bool
		if i, done = after(data, i, '}'); done || i < 0 {
			return i
		}
	}
}

// skipKey skips a key and its colon, up to the value.
func skipKey(data []byte, i int) int {
	if i >= len(data) || data[i] != '"' {
		return ^i
	}
	if i = skipString(data, i+1); i < 0 {
		return i
	}
	if i = Space(data, i); i >= len(data) || data[i] != ':' {
		return ^i
	}
	return Space(data, i+1)
}

// after skips the byte that follows an element: a comma, or the closing byte,
// which ends the list.
func after(data []byte, i int, closing byte) (next int, done bool) {
	i = Space(data, i)
	switch {
	case i >= len(data):
		return ^i, false
	case data[i] == closing:
		return i + 1, true
	case data[i] == ',':
		return Space(data, i+1), false
	}
	return ^i, false
}
