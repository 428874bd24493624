package ariadnetest

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// value is a JSON value. The keys of an object keep the order in which they
// were sent. Maps would lose that order, and decoding into them would take most
// of the server's time for a body.
type value struct {
	kind    byte     // '{' '[' '"' '0' 't' 'f' 'n'
	text    string   // of a string, decoded; of a number, as written
	members []member // of an object or an array
}

type member struct {
	key string // "" in an array
	val value
}

// get returns the member with a key. If there are several, the last one counts,
// as in JavaScript.
func (v value) get(key string) (value, bool) {
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].key == key {
			return v.members[i].val, true
		}
	}
	return value{}, false
}

// plain returns the result that encoding/json would give.
func (v value) plain() any {
	switch v.kind {
	case '{':
		return v.object()
	case '[':
		list := make([]any, len(v.members))
		for i, m := range v.members {
			list[i] = m.val.plain()
		}
		return list
	case '"':
		return v.text
	case '0':
		f, _ := strconv.ParseFloat(v.text, 64) // out of range gives Inf, as in JavaScript
		return f
	case 't', 'f':
		return v.kind == 't'
	}
	return nil
}

func (v value) object() map[string]any {
	m := make(map[string]any, len(v.members))
	for _, e := range v.members {
		m[e.key] = e.val.plain()
	}
	return m
}

var (
	errJSON  = errors.New("JSON Parse error")
	errDepth = errors.New("JSON is nested too deep")
)

const maxDepth = 10_000

// decode reads one JSON value, as strict as JSON.parse.
func decode(s string) (value, error) {
	d := decoder{s: s}
	v, err := d.value(0)
	if d.space(); err == nil && d.i < len(s) {
		err = errJSON
	}
	return v, err
}

type decoder struct {
	s     string
	i     int
	stack []member // members of the open containers
}

// space skips white space and returns the next byte, 0 at the end.
func (d *decoder) space() byte {
	for d.i < len(d.s) {
		switch c := d.s[d.i]; c {
		case ' ', '\t', '\r', '\n':
			d.i++
		default:
			return c
		}
	}
	return 0
}

func (d *decoder) value(depth int) (value, error) {
	switch c := d.space(); {
	case c == '{' || c == '[':
		return d.container(c, depth)
	case c == '"':
		text, err := d.text()
		return value{kind: '"', text: text}, err
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(d.s[d.i:], word) {
			d.i += len(word)
			return value{kind: word[0]}, nil
		}
	}
	return value{}, errJSON
}

func (d *decoder) container(open byte, depth int) (value, error) {
	if depth >= maxDepth {
		return value{}, errDepth
	}
	base := len(d.stack)
	closing := open + 2 // in ASCII, ']' and '}' come two after their openers
	d.i++
	if d.space() == closing {
		d.i++
		return value{kind: open}, nil
	}
	for {
		m, err := d.member(open == '{', depth)
		if err != nil {
			return value{}, err
		}
		d.stack = append(d.stack, m)
		switch d.space() {
		case ',':
			d.i++
		case closing:
			d.i++
			v := value{kind: open, members: append([]member(nil), d.stack[base:]...)}
			d.stack = d.stack[:base]
			return v, nil
		default:
			return value{}, errJSON
		}
	}
}

func (d *decoder) member(keyed bool, depth int) (m member, err error) {
	if keyed {
		if d.space() != '"' {
			return m, errJSON
		}
		if m.key, err = d.text(); err != nil {
			return m, err
		}
		if d.space() != ':' {
			return m, errJSON
		}
		d.i++
	}
	m.val, err = d.value(depth + 1)
	return m, err
}

// text reads a string. A string without escapes shares the memory of the body.
func (d *decoder) text() (string, error) {
	from, escaped := d.i, false
	for i := d.i + 1; i < len(d.s); i++ {
		switch c := d.s[i]; {
		case c == '"':
			d.i = i + 1
			return unescape(d.s[from:d.i], escaped)
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return "", errJSON
		}
	}
	return "", errJSON
}

func unescape(quoted string, escaped bool) (string, error) {
	if !escaped {
		return quoted[1 : len(quoted)-1], nil
	}
	var s string
	if json.Unmarshal([]byte(quoted), &s) != nil {
		return "", errJSON
	}
	return s, nil
}

func (d *decoder) number() (value, error) {
	from := d.i
	for d.i < len(d.s) && strings.IndexByte("+-.eE0123456789", d.s[d.i]) >= 0 {
		d.i++
	}
	text := d.s[from:d.i]
	if !json.Valid([]byte(text)) {
		return value{}, errJSON
	}
	return value{kind: '0', text: text}, nil
}
