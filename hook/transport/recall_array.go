package transport

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// A streamed answer of Gemini without alt=sse is a JSON array. It is passed on like a
// stream of events: each element, with the separator before it, takes the place of an
// event.

// isArray reports whether an answer is a streamed array.
func isArray(resp *http.Response, path string, d dialect) bool {
	_, gemini := d.(geminiDialect)
	return gemini && countable(resp) == document && strings.HasSuffix(path, ":streamGenerateContent")
}

// elementScan finds the ends of the elements of an array, looking at each byte once.
type elementScan struct {
	at      int // bytes that were scanned
	depth   int // number of open objects and arrays in the element
	quoted  bool
	escaped bool
}

// end returns the end of the current element or of the array; 0 = it is incomplete.
func (s *elementScan) end(raw []byte) int {
	for s.at < len(raw) {
		b := raw[s.at]
		s.at++
		if s.step(b) {
			return s.at
		}
	}
	return 0
}

// step scans a byte, and reports whether it ends an element or the array.
func (s *elementScan) step(b byte) bool {
	switch {
	case s.escaped:
		s.escaped = false
	case s.quoted:
		s.escaped, s.quoted = b == '\\', b != '"'
	case b == '"':
		s.quoted = true
	case b == '{', b == '[' && s.depth > 0:
		s.depth++
	case b == '}', b == ']':
		s.depth = max(s.depth-1, 0)
		return s.depth == 0
	}
	return false
}

// elementPiece parses an element, the end of the array, or other bytes.
func elementPiece(raw []byte) *piece {
	p := &piece{raw: raw, size: len(raw)}
	if at := bytes.IndexByte(raw, '{'); at >= 0 && raw[len(raw)-1] == '}' {
		p.head, p.data = raw[:at], raw[at:]
	}
	return p
}

// elementsOf divides a part of an array into pieces. raw begins with the array, or
// directly after an element.
func elementsOf(raw []byte) *pieces {
	p, scan, from := &pieces{}, elementScan{}, 0
	for end := scan.end(raw); end > 0; end = scan.end(raw) {
		p.list = append(p.list, elementPiece(raw[from:end]))
		from = end
	}
	if from < len(raw) {
		p.list = append(p.list, elementPiece(raw[from:]))
	}
	return p
}

// joined returns the bytes of elements as part of the array that the caller receives.
// It opens that array before the first element, and closes it at the end.
func (l *live) joined(p *pieces) (out []byte) {
	for _, e := range p.list {
		switch {
		case e.dropped:
		case e.data == nil && !e.endsArray():
			out = append(out, e.raw...)
		default:
			out = append(out, l.divider(len(out)+len(l.out) > 0, e)...)
			out = append(out, e.data...)
		}
	}
	return out
}

// divider returns the separator before an element, or the end of the array.
func (l *live) divider(more bool, e *piece) string {
	begun := l.begun || more
	switch {
	case e.data == nil && begun:
		return "]"
	case e.data == nil:
		return "[]"
	case begun:
		return ",\n"
	}
	return "["
}

// endsArray reports whether a piece is the end of an array.
func (p *piece) endsArray() bool {
	return !p.stream && p.data == nil && bytes.HasSuffix(p.raw, []byte("]"))
}

// element returns the bytes of an error as the last element of the array, and the end of
// the array.
func (l *live) element(o rawObject) []byte {
	return fmt.Appendf(nil, "%s%s]", l.divider(len(l.out) > 0, &piece{data: []byte("{}")}), enc(o))
}

// size returns the length of the next event; 0 = it is incomplete.
func (l *live) size() int {
	if l.array {
		return max(l.elems.end(l.raw)-l.scanned, 0)
	}
	size := eventSize(l.raw[l.scanned:], l.looked-l.scanned)
	if size == 0 {
		l.looked = max(len(l.raw)-len("\r\n\r"), 0) // a terminator can have begun in the last bytes
	}
	return size
}

func (l *live) split(raw []byte) *pieces {
	if l.array {
		return elementsOf(raw)
	}
	return split(raw, true)
}

func (l *live) piece(raw []byte) *piece {
	if l.array {
		return elementPiece(raw)
	}
	return eventPiece(raw)
}

func (l *live) failure(f *notAnswered) []byte {
	if l.array {
		o, _ := f.object()
		return l.element(o)
	}
	return f.event(l.d, &l.have)
}
