package jsonscan

import (
	"encoding"
	"encoding/json"
	"math"
	"unicode/utf8"
)

// A Record reads one JSON value that a program of this module wrote with encoding/json,
// once and from left to right: the value has no white space, and the caller requests
// the members of an object in their order. On any other input it stops, and
// [Record.Done] returns false; the caller then uses encoding/json. The values are the
// same as from encoding/json.
//
// The methods that take a name read the next member if it has that name, and
// otherwise leave their target unchanged. No method panics.
type Record struct {
	data  []byte
	at    int
	more  bool // a comma comes before the next member or element
	bad   bool
	words map[string]string
}

// NewRecord returns a Record at the beginning of data. It keeps no reference to
// data.
func NewRecord(data []byte) *Record {
	r := &Record{words: map[string]string{}}
	r.Reset(data)
	return r
}

// Reset continues with other data. Strings that [Record.Word] has read are
// shared with later ones.
func (r *Record) Reset(data []byte) {
	r.data, r.at, r.more, r.bad = data, 0, false, false
}

// Done reports whether the Record has read all of data without an error.
func (r *Record) Done() bool { return !r.bad && Space(r.data, r.at) == len(r.data) }

func (r *Record) fail() { r.bad, r.at = true, len(r.data) }

// Object reads an object; read reads its members.
func (r *Record) Object(read func(*Record)) {
	if !r.take('{') {
		r.fail()
		return
	}
	r.more = false
	read(r)
	if !r.take('}') {
		r.fail()
	}
	r.more = true
}

// Key reports whether the next member has that name, and skips the name.
func (r *Record) Key(name string) bool {
	rest := r.data[r.at:]
	if r.more && len(rest) > 0 && rest[0] == ',' {
		rest = rest[1:]
	} else if r.more {
		return false
	}
	n := len(name) + 3
	if len(rest) < n || rest[0] != '"' || string(rest[1:n-2]) != name || rest[n-2] != '"' || rest[n-1] != ':' {
		return false
	}
	r.at = len(r.data) - len(rest) + n
	r.more = false
	return true
}

// List reads a member that is an array; read reads its elements. For null it leaves
// the target unchanged.
func List[T any](r *Record, name string, to *[]T, read func(*Record, *T)) {
	if !r.Key(name) || r.null() {
		return
	}
	if !r.take('[') {
		r.fail()
		return
	}
	all := []T{}
	for !r.bad && !r.take(']') {
		if len(all) > 0 && !r.take(',') {
			r.fail()
			return
		}
		var zero T
		all = append(all, zero)
		r.more = false
		read(r, &all[len(all)-1])
	}
	*to, r.more = all, true
}

// Int reads a whole number.
func (r *Record) Int(name string, to *int) {
	if r.Key(name) {
		*to = int(r.number(math.MinInt, math.MaxInt))
	}
}

// Int64 reads a whole number.
func (r *Record) Int64(name string, to *int64) {
	if r.Key(name) {
		*to = r.number(math.MinInt64, math.MaxInt64)
	}
}

// Uint32 reads a whole number.
func (r *Record) Uint32(name string, to *uint32) {
	if r.Key(name) {
		if r.at < len(r.data) && r.data[r.at] == '-' { // -0 is not a valid number here
			r.fail()
			return
		}
		*to = uint32(r.number(0, math.MaxUint32))
	}
}

// True reads the value true.
func (r *Record) True(name string, to *bool) {
	if !r.Key(name) {
		return
	}
	if rest := r.data[r.at:]; len(rest) < 4 || string(rest[:4]) != "true" {
		r.fail()
		return
	}
	r.at += 4
	*to, r.more = true, true
}

// String reads a string.
func (r *Record) String(name string, to *string) {
	if r.Key(name) {
		b, ok := r.plain()
		if ok {
			*to = string(b)
			return
		}
		r.escaped(to)
	}
}

// Word reads a string that recurs in other records.
func (r *Record) Word(name string, to *string) {
	if !r.Key(name) {
		return
	}
	b, ok := r.plain()
	if !ok {
		r.escaped(to)
		return
	}
	word, known := r.words[string(b)]
	if !known {
		word = string(b)
		r.words[word] = word
	}
	*to = word
}

// Text reads a string with the decoder of its type.
func (r *Record) Text(name string, to encoding.TextUnmarshaler) {
	if !r.Key(name) {
		return
	}
	if b, ok := r.plain(); !ok || to.UnmarshalText(b) != nil {
		r.fail()
	}
}

// JSON reads any value with encoding/json.
func (r *Record) JSON(name string, to any) {
	if r.Key(name) {
		r.decode(to)
	}
}

func (r *Record) decode(to any) {
	v, err := Value(r.data, r.at)
	if err != nil || v.Start != r.at || json.Unmarshal(v.Of(r.data), to) != nil {
		r.fail()
		return
	}
	r.at, r.more = v.End, true
}

// plain returns the bytes between the quotes of a string without escapes.
func (r *Record) plain() ([]byte, bool) {
	if r.at >= len(r.data) || r.data[r.at] != '"' {
		return nil, false
	}
	end := special(r.data, r.at+1)
	if end >= len(r.data) || r.data[end] != '"' || !utf8.Valid(r.data[r.at+1:end]) {
		return nil, false
	}
	b := r.data[r.at+1 : end]
	r.at, r.more = end+1, true
	return b, true
}

// escaped reads a string that has escapes, or is not valid UTF-8.
func (r *Record) escaped(to *string) {
	if r.at >= len(r.data) || r.data[r.at] != '"' {
		r.decode(to)
		return
	}
	end := skipString(r.data, r.at+1)
	if end < 0 {
		r.fail()
		return
	}
	s, err := Unquote(r.data[r.at:end])
	if err != nil {
		r.fail()
		return
	}
	*to, r.at, r.more = s, end, true
}

// number reads a whole number of at most 18 digits.
func (r *Record) number(least, most int64) int64 {
	minus := r.take('-')
	from, n := r.at, int64(0)
	for r.at < len(r.data) && '0' <= r.data[r.at] && r.data[r.at] <= '9' && r.at-from <= 18 {
		n = 10*n + int64(r.data[r.at]-'0')
		r.at++
	}
	if minus {
		n = -n
	}
	digits := r.at - from
	if digits == 0 || digits > 18 || digits > 1 && r.data[from] == '0' || n < least || n > most {
		r.fail()
		return 0
	}
	r.more = true
	return n
}

func (r *Record) null() bool {
	if rest := r.data[r.at:]; len(rest) < 4 || string(rest[:4]) != "null" {
		return false
	}
	r.at += 4
	r.more = true
	return true
}

func (r *Record) take(c byte) bool {
	if r.at < len(r.data) && r.data[r.at] == c {
		r.at++
		return true
	}
	return false
}
