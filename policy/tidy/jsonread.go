package tidy

import (
	"slices"
	"strings"
)

// A document is a JSON document that is read once and reduced several times.
type document struct {
	src  string
	main mainText
	long map[int]container // the long arrays and objects, by their place
}

// A container is an array or an object.
type container struct {
	members []member
	end     int // the place after its bracket; -1 = the text is not JSON
}

// A member is an element of an array, or a key of an object with its value.
type member struct {
	from, value, to int
	kind            uint64 // of an element of an array: equal for objects with equal keys, and for values of one kind
}

// read returns the array or object at i, which ends before end.
func (d *document) read(i, end int) container {
	if c, ok := d.long[i]; ok {
		return c
	}
	c := readContainer(d.src, i, end)
	const long = 4 << 10 // a shorter one is read again faster than it is found
	if c.end-i >= long {
		if d.long == nil {
			d.long = map[int]container{}
		}
		d.long[i] = c
	}
	return c
}

// readContainer reads the array or object at i, which ends before end.
func readContainer(s string, i, end int) (c container) {
	array := s[i] == '['
	from := i
	c.end = eachMember(s, i, func(m member) int {
		const sample = 32 // after so many members the number of all is estimated
		if len(c.members) == sample {
			c.members = slices.Grow(c.members, (end-m.from)/((m.from-from)/sample))
		}
		if m.to = -1; array && m.value < len(s) {
			m.kind, m.to = kindOf(s, m.value)
		} else {
			m.to = skipJSON(s, m.value)
		}
		c.members = append(c.members, m)
		return m.to
	})
	if c.end < 0 {
		c.members = nil
	}
	return c
}

// kindOf returns a number for the kind of the value at i, and the end of the value. For an
// object, the number is a hash of its keys.
func kindOf(s string, i int) (kind uint64, end int) {
	switch c := s[i]; {
	case c == '{':
		kind = 14695981039346656037
		end = eachMember(s, i, func(m member) int {
			kind ^= shape(s[m.from:m.value])
			return skipJSON(s, m.value)
		})
		return kind, end
	case isDigit(c) || c == '-':
		return '0', skipJSON(s, i)
	default:
		return uint64(c), skipJSON(s, i)
	}
}

// eachMember calls f for each member of the array or object at i. f returns the end of
// the value, or -1 if there is none. eachMember returns the end of the array or object,
// or -1 if the text is not JSON.
func eachMember(s string, i int, f func(member) int) (end int) {
	closing := s[i] + 2 // } is { + 2, ] is [ + 2
	for i++; ; {
		i = blanks(s, i)
		if i >= len(s) {
			return -1
		}
		switch s[i] {
		case closing:
			return i + 1
		case ',':
			i++
			continue
		}
		m := member{from: i, value: i}
		if closing == '}' {
			name := skipJSON(s, i)
			if name < 0 {
				return -1
			}
			m.value = blanks(s, blanks(s, name)+1) // after the colon
		}
		if i = f(m); i < 0 {
			return -1
		}
	}
}

func blanks(s string, i int) int {
	for i < len(s) && space(s[i]) {
		i++
	}
	return i
}

// skipJSON returns the end of the value at i, or -1 if there is none. It checks
// little more than that brackets and strings are closed.
func skipJSON(s string, i int) int {
	var few [4 * deepest]byte // enough for most documents
	open := few[:0]
	for i < len(s) {
		switch c := s[i]; c {
		case '"':
			if i = quoted(s, i); i < 0 {
				return -1
			}
		case '{', '[':
			open = append(open, c+2) // the closing bracket: } is { + 2, ] is [ + 2
			i++
		case '}', ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return -1
			}
			open = open[:len(open)-1]
			i++
		case ' ', '\t', '\n', '\r', ',', ':':
			if len(open) == 0 {
				return -1
			}
			i++
			continue
		default:
			start := i
			for i < len(s) && (isLetter(s[i]) || isDigit(s[i]) || s[i] == '-' || s[i] == '+' || s[i] == '.') {
				i++
			}
			if i == start {
				return -1
			}
		}
		if len(open) == 0 {
			return i
		}
	}
	return -1
}

// quoted returns the end of the string at i, or -1 if it is not closed.
func quoted(s string, i int) int {
	const short = 32 // a search for the end is faster from this length on
	at := i + 1
	for ; at < len(s) && at <= i+short; at++ {
		switch s[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	for at < len(s) {
		end := strings.IndexByte(s[at:], '"')
		if end < 0 {
			return -1
		}
		end += at
		n := 0 // backslashes before the quotation mark; an odd number escapes it
		for s[end-1-n] == '\\' {
			n++
		}
		if at = end + 1; n%2 == 0 {
			return at
		}
	}
	return -1
}
