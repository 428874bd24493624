package redact

import (
	"math/bits"
	"strings"
)

// walker reads JSON and finds the secrets in its strings. It accepts the same JSON
// as encoding/json, which also has the depth limit maxDepth.
type walker struct {
	d     *document
	s     string
	i     int
	found []span
	muted bool // outside of the member that is redacted

	end             int // end of the object that is searched as a whole
	inner, innerEnd int // the value of the last object without a name, and the end of that object

	heads  tableHead // of a table in arrays
	random bool      // an object around this one describes a generated password
}

const maxDepth = 10000

// literal is a string or a number: s[from:to], a string without its quotes.
type literal struct {
	from, to int
	escaped  bool
	ok       bool
}

// whole reads s and reports whether it is a sequence of JSON values.
func (w *walker) whole() bool {
	for {
		if w.skip() == 0 {
			return w.i >= len(w.s)
		}
		if !w.value("", 0) {
			return false
		}
	}
}

// value reads the value at i. name is its key.
func (w *walker) value(name string, depth int) bool {
	if w.i >= len(w.s) || depth > maxDepth {
		return false
	}
	switch c := w.s[w.i]; {
	case c == '{':
		return w.object(name, depth)
	case c == '[':
		return w.array(name, depth)
	case c == '"':
		lit := w.text()
		if lit.ok && !w.muted {
			w.leaf(name, lit)
		}
		return lit.ok
	case c == '-' || isDigit(c):
		lit := w.number()
		if lit.ok && !w.muted {
			w.numberLeaf(name, lit)
		}
		return lit.ok
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(w.s[w.i:], word) {
			w.i += len(word)
			return true
		}
	}
	return false
}

func (w *walker) array(name string, depth int) bool {
	w.i++
	if w.skip() == ']' {
		w.i++
		return true
	}
	var words list
	for {
		words.note(w, w.skip())
		if !w.value(name, depth+1) {
			return false
		}
		switch w.skip() {
		case ',':
			w.i++
		case ']':
			w.i++
			w.listed(name, &words)
			return true
		default:
			return false
		}
	}
}

// object reads the members of an object, and then searches the members whose meaning
// depends on other members: the data of a Kubernetes secret, and pairs of name and
// value.
func (w *walker) object(name string, depth int) bool {
	w.i++
	if w.skip() == '}' {
		w.i++
		return true
	}
	seen := members{parent: name, from: w.i}
	for {
		if w.skip() != '"' {
			return false
		}
		key := w.text()
		if !key.ok || w.skip() != ':' {
			return false
		}
		w.i++
		w.skip()
		if !w.member(w.keyName(key), &seen, depth) {
			return false
		}
		switch w.skip() {
		case ',':
			w.i++
		case '}':
			w.i++
			w.together(&seen)
			return true
		default:
			return false
		}
	}
}

// member reads the value of one member, and records the data that the function
// together needs.
func (w *walker) member(name string, seen *members, depth int) bool {
	from := w.i
	if only := w.d.only; only != nil && depth == 0 {
		w.muted = name != *only
		defer func() { w.muted = true }()
	}
	if !w.value(ownedName(seen.parent, name), depth+1) {
		return false
	}
	seen.note(w, name, from)
	return true
}

// ownedName returns the name of a member that is called only "key", with the name of
// its object if that says what the key is for: {"jwt": {"key": "…"}}.
func ownedName(object, name string) string {
	if strings.EqualFold(name, "key") {
		switch strings.ToLower(object) {
		case "jwt", "api", "encryption", "signing", "hmac", "aes", "secret", "private", "master":
			return object + "_" + name
		}
	}
	return name
}

// keyName decodes a key, and redacts a secret inside of it.
func (w *walker) keyName(key literal) string {
	name := w.decoded(key)
	if len(name) >= 16 && !w.muted {
		w.spans(key, name, w.d.find(name), 0)
	}
	return name
}

// skip skips white space and returns the next byte, 0 at the end.
func (w *walker) skip() byte {
	for w.i < len(w.s) {
		c := w.s[w.i]
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		w.i++
	}
	return 0
}

// special returns the index of the first byte at or after i that has a meaning of its own
// within a string: a quote, a backslash or a control character. It returns len(s) if there
// is none. It reads eight bytes at a time.
func special(s string, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		x := eight(s, i)
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		if m := ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

// text reads the string at i.
func (w *walker) text() literal {
	s := w.s
	lit := literal{from: w.i + 1}
	for i := special(s, w.i+1); i < len(s); i = special(s, i+1) {
		switch c := s[i]; {
		case c == '"':
			lit.to, lit.ok = i, true
			w.i = i + 1
			return lit
		case c < ' ':
			return lit
		case c == '\\':
			lit.escaped = true
			if i+1 < len(s) && simpleEscapes[s[i+1]] != 0 {
				i++
				continue
			}
			n := escapeLength(s[i:])
			if n == 0 {
				return lit
			}
			i += n - 1
		}
	}
	return lit
}

// number reads the number at i.
func (w *walker) number() literal {
	s, i := w.s, w.i
	lit := literal{from: i}
	if s[i] == '-' {
		i++
	}
	digits := run(s, i, len(s), isDigit)
	if digits == i || s[i] == '0' && digits > i+1 {
		return lit
	}
	i = digits
	if i < len(s) && s[i] == '.' {
		if digits = run(s, i+1, len(s), isDigit); digits == i+1 {
			return lit
		}
		i = digits
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if digits = run(s, i, len(s), isDigit); digits == i {
			return lit
		}
		i = digits
	}
	lit.to, lit.ok = i, true
	w.i = i
	return lit
}
