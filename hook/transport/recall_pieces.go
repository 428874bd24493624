package transport

import (
	"bytes"
	"encoding/json"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// rawObject is a JSON object whose values are not read yet.
type rawObject = map[string]json.RawMessage

// pieces are an answer, taken apart: the events of a stream, the elements of an
// array (Gemini, without alt=sse), or one document.
type pieces struct {
	list  []*piece
	array bool
}

// piece is one of them.
type piece struct {
	raw     []byte // with what ends it
	head    []byte // the lines before the data
	data    []byte // JSON; nil = something else
	size    int    // as it came, in bytes
	stream  bool
	dropped bool
}

// split takes an answer apart.
func split(raw []byte, stream bool) *pieces {
	p := &pieces{}
	if !stream {
		start := jsonscan.Space(raw, 0)
		if start < len(raw) && raw[start] == '[' {
			span, err := jsonscan.Value(raw, start)
			if err == nil && jsonscan.Array(raw, span, func(_ int, e jsonscan.Span) error {
				p.list = append(p.list, &piece{data: e.Of(raw)})
				return nil
			}) == nil {
				p.array = true
				return p
			}
		}
		p.list = []*piece{{data: raw}}
		return p
	}
	for len(raw) > 0 {
		end := eventSize(raw, 0)
		if end == 0 {
			end = len(raw)
		}
		p.list = append(p.list, eventPiece(raw[:end]))
		raw = raw[end:]
	}
	return p
}

// eventPiece reads one event.
func eventPiece(raw []byte) *piece {
	p := &piece{raw: raw, size: len(raw), stream: true}
	for line := range bytes.Lines(raw) {
		if data, ok := bytes.CutPrefix(line, []byte(dataField)); ok {
			p.data = append(p.data, bytes.TrimSpace(data)...)
		} else if len(bytes.TrimSpace(line)) > 0 {
			p.head = append(p.head, line...)
		}
	}
	if len(p.data) > 0 && p.data[0] != '{' {
		p.data = nil // [DONE]
	}
	return p
}

// read reads a piece as an object; nil where it is none.
func (p *piece) read() rawObject {
	var o rawObject
	if p.dropped || len(p.data) == 0 || json.Unmarshal(p.data, &o) != nil {
		return nil
	}
	return o
}

// write changes a piece.
func (p *piece) write(o rawObject) {
	data, err := json.Marshal(o)
	if err != nil {
		return // it was read from JSON
	}
	p.data, p.raw = data, nil
}

func (p *pieces) bytes() []byte {
	var out []byte
	n := 0
	for _, e := range p.list {
		switch {
		case e.dropped:
			continue
		case p.array && n > 0:
			out = append(out, ",\n"...)
		}
		n++
		switch {
		case e.stream && e.raw != nil:
			out = append(out, e.raw...)
		case e.stream:
			out = append(append(append(append(out, e.head...), "data: "...), e.data...), "\n\n"...)
		default:
			out = append(out, e.data...)
		}
	}
	if p.array {
		return append(append([]byte{'['}, out...), ']')
	}
	return out
}

// text reads a JSON string; "" where it is none.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// indexOf reads an index; -1 where there is none.
func indexOf(raw json.RawMessage) int {
	n := -1
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return -1
	}
	return n
}

// list reads an array; nil where it is none.
func list(raw json.RawMessage) []json.RawMessage {
	var l []json.RawMessage
	_ = json.Unmarshal(raw, &l)
	return l
}

// obj reads an object; nil where it is none.
func obj(raw json.RawMessage) rawObject {
	var o rawObject
	_ = json.Unmarshal(raw, &o)
	return o
}

// enc writes what can be written: maps, strings, lists and JSON that was read.
func enc(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// eventSize is the length of the first event, with what ends it; 0 = it is not
// whole. It does not end in the first so many bytes.
func eventSize(raw []byte, not int) int {
	not = min(max(not, 0), len(raw))
	size := 0
	for _, sep := range []string{"\n\n", "\r\n\r\n"} {
		if i := bytes.Index(raw[not:], []byte(sep)); i >= 0 && (size == 0 || not+i+len(sep) < size) {
			size = not + i + len(sep)
		}
	}
	return size
}
