package redact

import (
	"strings"
	"unicode/utf8"
)

// spelling is a way of writing a text within another text: some characters are written
// as escapes, which begin with sign.
type spelling struct {
	sign byte
	read reader
	url  bool // a spelling of URLs or HTML
}

var (
	inJSON    = spelling{sign: '\\', read: readEscape}
	spellings = [...]*spelling{&inJSON, {sign: '%', read: readPercent, url: true}, {sign: '&', read: readEntity, url: true}}
)

func readEscape(s string, i int) (string, int) {
	if escapeLength(s[i:]) == 0 {
		return "", 0
	}
	c, n := decodeEscape(s[i:])
	if c < utf8.RuneSelf {
		return string([]byte{byte(c)}), n // does not allocate
	}
	return string(c), n
}

// decode returns s without its escapes.
func (p *spelling) decode(s string) string {
	b := make([]byte, 0, len(s))
	done := 0 // s[:done] is decoded
	for i := 0; ; {
		k := strings.IndexByte(s[i:], p.sign)
		if k < 0 {
			break
		}
		i += k
		c, n := p.read(s, i)
		if n == 0 {
			i++
			continue
		}
		b = append(append(b, s[done:i]...), c...)
		i += n
		done = i
	}
	return string(append(b, s[done:]...))
}

// matters reports whether an escape in s represents a byte of used, or the sign
// of another escape. In a run of backslashes only the last one can begin such an
// escape, in any nested JSON.
func (p *spelling) matters(s string, used *byteSet) bool {
	for i := 0; ; i++ {
		k := strings.IndexByte(s[i:], p.sign)
		if k < 0 {
			return false
		}
		i += k
		if p == &inJSON {
			last := run(s, i, len(s), isBackslash) - 1
			if last > i && used.has('\\') {
				return true
			}
			i = last
		}
		if c, n := p.read(s, i); n > 0 && (used.has(c[0]) || isSign(c[0])) {
			return true
		}
	}
}

func isBackslash(c byte) bool { return c == '\\' }

func isSign(c byte) bool { return c == '\\' || c == '%' || c == '&' }

// byteSet is a set of bytes.
type byteSet [4]uint64

func (b *byteSet) has(c byte) bool { return b[c>>6]>>(c&63)&1 != 0 }

func (b *byteSet) add(s string) {
	for i := range len(s) {
		b[s[i]>>6] |= 1 << (s[i] & 63)
	}
}

// depth is the number of nested spellings of each kind that a search decodes.
// It bounds the time of the search, which is linear in the text.
type depth struct{ json, url int }

// less returns the depth within a spelling. ok is false at the maximum depth.
func (d depth) less(p *spelling) (inner depth, ok bool) {
	if p.url {
		return depth{d.json, d.url - 1}, d.url > 0
	}
	return depth{d.json - 1, d.url}, d.json > 0
}

// spelled returns the findings of f in s, unchanged and with its escapes
// decoded, in order and without overlaps. The values that f finds consist of
// the bytes of used.
func spelled(s string, f finder, used *byteSet, deep depth) []span {
	found := f.find(s)
	for i := range found {
		found[i] = found[i].in(s)
	}
	return join(append(found, inside(s, f, used, deep)...))
}

// inside returns the findings of f in s with its escapes decoded.
func inside(s string, f finder, used *byteSet, deep depth) (found []span) {
	for _, p := range spellings {
		inner, ok := deep.less(p)
		if !ok || !p.matters(s, used) {
			continue
		}
		c := cursor{raw: s, by: p}
		for _, e := range spelled(p.decode(s), f, used, inner) {
			e.start, e.end = c.offset(e.start, false), c.offset(e.end, true)
			found = append(found, e)
		}
	}
	return found
}
