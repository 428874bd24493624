// Package jsonscan walks over JSON without building anything: it says where
// in the input each value lies, so that one of them can be replaced and every
// other byte stays as it was.
//
// It reads input that [encoding/json.Valid] accepts; on other input it
// returns an error or skips, and never panics.
package jsonscan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Span is a half-open byte range of the input: one JSON value, quotes and
// brackets included.
type Span struct{ Start, End int }

// Of returns the bytes of s in data, which are shared, not copied.
func (s Span) Of(data []byte) []byte { return data[s.Start:s.End] }

var errSyntax = errors.New("not valid JSON")

// Space returns the offset of the first byte at or after i that is not white space.
func Space(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\r', '\n':
			i++
		default:
			return i
		}
	}
	return i
}

// Value returns the span of the value that begins at or after offset i.
func Value(data []byte, i int) (Span, error) {
	i = Space(data, i)
	if i >= len(data) {
		return Span{}, errSyntax
	}
	switch data[i] {
	case '"':
		return stringSpan(data, i)
	case '{', '[':
		return nested(data, i)
	}
	j := i
	for j < len(data) && !strings.ContainsRune(",]} \t\r\n", rune(data[j])) {
		j++
	}
	if j == i {
		return Span{}, errSyntax
	}
	return Span{i, j}, nil
}

func stringSpan(data []byte, i int) (Span, error) {
	for j := i + 1; j < len(data); j++ {
		switch data[j] {
		case '\\':
			j++
		case '"':
			return Span{i, j + 1}, nil
		}
	}
	return Span{}, errSyntax
}

func nested(data []byte, i int) (Span, error) {
	depth := 0
	for j := i; j < len(data); j++ {
		switch data[j] {
		case '"':
			s, err := stringSpan(data, j)
			if err != nil {
				return Span{}, err
			}
			j = s.End - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return Span{i, j + 1}, nil
			}
		}
	}
	return Span{}, errSyntax
}

// A Member is one key and value of an object. Whole runs from the key's first
// byte to the value's last.
type Member struct {
	Key   string
	Whole Span
	Value Span
}

// Object calls f for each member of the object in data at s, in order, and
// stops at the first error.
func Object(data []byte, s Span, f func(Member) error) error {
	if s.Start >= s.End || data[s.Start] != '{' {
		return fmt.Errorf("%w: an object is wanted", errSyntax)
	}
	i := Space(data, s.Start+1)
	for i < s.End && data[i] != '}' {
		if data[i] != '"' {
			return errSyntax
		}
		key, err := stringSpan(data, i)
		if err != nil {
			return err
		}
		i = Space(data, key.End)
		if i >= s.End || data[i] != ':' {
			return errSyntax
		}
		v, err := Value(data, i+1)
		if err != nil {
			return err
		}
		name, err := Unquote(key.Of(data))
		if err != nil {
			return err
		}
		if err := f(Member{name, Span{key.Start, v.End}, v}); err != nil {
			return err
		}
		if i, err = next(data, v.End, '}'); err != nil {
			return err
		}
	}
	return nil
}

// Array calls f for the span of each element of the array in data at s, in
// order, and stops at the first error.
func Array(data []byte, s Span, f func(i int, elem Span) error) error {
	if s.Start >= s.End || data[s.Start] != '[' {
		return fmt.Errorf("%w: an array is wanted", errSyntax)
	}
	i := Space(data, s.Start+1)
	for n := 0; i < s.End && data[i] != ']'; n++ {
		v, err := Value(data, i)
		if err != nil {
			return err
		}
		if err := f(n, v); err != nil {
			return err
		}
		if i, err = next(data, v.End, ']'); err != nil {
			return err
		}
	}
	return nil
}

// next steps over the comma behind an element; the closing byte stays.
func next(data []byte, i int, closing byte) (int, error) {
	i = Space(data, i)
	if i >= len(data) {
		return i, errSyntax
	}
	if data[i] == ',' {
		return Space(data, i+1), nil
	}
	if data[i] != closing {
		return i, errSyntax
	}
	return i, nil
}

// Unquote decodes one JSON string, quotes included.
func Unquote(quoted []byte) (string, error) {
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", fmt.Errorf("%w: a string is wanted", errSyntax)
	}
	inner := quoted[1 : len(quoted)-1]
	for _, c := range inner {
		if c == '\\' || c >= utf8.RuneSelf {
			var s string
			err := json.Unmarshal(quoted, &s) // also repairs invalid UTF-8
			return s, err
		}
	}
	return string(inner), nil
}

const hex = "0123456789abcdef"

// AppendQuote appends s as a JSON string. Unlike encoding/json it leaves
// <, > and & as they are; invalid UTF-8 becomes U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
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
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
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

// Without returns object with the member m cut out, comma included. Every
// other byte stays.
func Without(object []byte, m Span) []byte {
	start, end := m.Start, m.End
	if j := Space(object, end); j < len(object) && object[j] == ',' {
		end = Space(object, j+1)
	} else {
		for start > 0 && object[start-1] != ',' && object[start-1] != '{' {
			start--
		}
		if start > 0 && object[start-1] == ',' {
			start--
		}
	}
	out := make([]byte, 0, len(object)-(end-start))
	out = append(out, object[:start]...)
	return append(out, object[end:]...)
}
