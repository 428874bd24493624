// Package jsonscan scans JSON without building values: it returns the
// position of each value in the input, so that a value can be replaced and
// every other byte stays the same.
//
// [Split] and [Check] read any input and refuse invalid JSON. The other functions read
// input that these have accepted; on other input they return an error or skip, and
// never panic.
package jsonscan

import (
	"errors"
	"fmt"
)

// A Span is a half-open byte range of the input: one JSON value, quotes and
// brackets included.
type Span struct{ Start, End int }

// Of returns the bytes of s in data, without copying them.
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
	for j < len(data) && class[data[j]]&ends == 0 {
		j++
	}
	if j == i {
		return Span{}, errSyntax
	}
	return Span{i, j}, nil
}

// Properties of bytes.
const (
	ends    = 1 << iota // a number or a word ends before the character
	nests               // a string, an object or an array begins or ends
	escapes             // the character may follow a backslash
)

var class = [256]uint8{
	',': ends, ' ': ends, '\t': ends, '\r': ends, '\n': ends,
	']': ends | nests, '}': ends | nests, '[': nests, '{': nests, '"': nests | escapes,
	'\\': escapes, '/': escapes, 'b': escapes, 'f': escapes, 'n': escapes, 'r': escapes, 't': escapes,
}

func stringSpan(data []byte, i int) (Span, error) {
	for j := special(data, i+1); j < len(data); j = special(data, j+1) {
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
		if class[data[j]]&nests == 0 {
			continue
		}
		switch data[j] {
		case '"':
			s, err := stringSpan(data, j)
			if err != nil {
				return Span{}, err
			}
			j = s.End - 1
		case '{', '[':
			depth++
		default:
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

// next skips the comma after an element, but not the closing byte.
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

// Without returns object without the member m and its comma. Every other byte
// stays the same.
func Without(object []byte, m Span) []byte {
	cut := Cut(object, m)
	out := make([]byte, 0, len(object)-(cut.End-cut.Start))
	out = append(out, object[:cut.Start]...)
	return append(out, object[cut.End:]...)
}

// Strip returns object without its members named key and their commas, and the value of
// the last of them. If object has no such member, Strip returns object itself and nil.
// Every other byte stays the same.
func Strip(object []byte, key string) (rest, value []byte) {
	whole, err := Value(object, 0)
	if err != nil {
		return object, nil
	}
	at, open, end := 0, -1, 0 // at is the end of the bytes copied to rest; open and end are the current run of such members
	err = Object(object, whole, func(m Member) error {
		switch {
		case m.Key == key:
			if open < 0 {
				open = m.Whole.Start
			}
			end, value = m.Whole.End, m.Value.Of(object)
		case open >= 0:
			rest = append(rest, object[at:open]...)
			at, open = m.Whole.Start, -1
		}
		return nil
	})
	if err != nil || value == nil {
		return object, nil
	}
	if open >= 0 { // no member follows, so the comma before it is cut, too
		rest = append(rest, object[at:Cut(object, Span{open, end}).Start]...)
		at = end
	}
	return append(rest, object[at:]...), value
}

// Cut returns the span that [Without] removes from data: the member m of an
// object, and its comma.
func Cut(data []byte, m Span) Span {
	if j := Space(data, m.End); j < len(data) && data[j] == ',' {
		return Span{m.Start, Space(data, j+1)}
	}
	for m.Start > 0 && data[m.Start-1] != ',' && data[m.Start-1] != '{' {
		m.Start--
	}
	if m.Start > 0 && data[m.Start-1] == ',' {
		m.Start--
	}
	return m
}
