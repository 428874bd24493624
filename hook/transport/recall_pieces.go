package transport

import (
	"bytes"
	"encoding/json"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// rawObject is a JSON object with unparsed values.
type rawObject = map[string]json.RawMessage

// pieces is an answer as a list: the events of a stream, the elements of an
// array (Gemini without alt=sse), or one document.
type pieces struct {
	list  []*piece
	array bool
}

// piece is one event, element or document.
type piece struct {
	raw     []byte // with its terminator
	head    []byte // the lines before the data
	data    []byte // JSON; nil = something else
	size    int    // size of raw in bytes as received
	stream  bool
	dropped bool
}

// split divides an answer into pieces.
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

// eventPiece parses one event.
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

// read parses a piece as an object; nil if it is not one.
func (p *piece) read() rawObject {
	var o rawObject
	if p.dropped || len(p.data) == 0 || json.Unmarshal(p.data, &o) != nil {
		return nil
	}
	return o
}

// isLast reports whether no event follows an event of a stream. The wire of Gemini has no such
// event.
func (p *piece) isLast() bool {
	switch text(p.read()["type"]) {
	case "message_stop", "response.completed", "response.incomplete", "response.failed", "error":
		return true
	}
	return p.stream && p.data == nil && bytes.Contains(p.raw, []byte("[DONE]"))
}

// write replaces the data of a piece.
func (p *piece) write(o rawObject) {
	data, err := json.Marshal(o)
	if err != nil {
		return // never: it was parsed from JSON
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

// text parses a JSON string; "" if raw is not one.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// indexOf parses an index; -1 if raw is not one.
func indexOf(raw json.RawMessage) int {
	n := -1
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return -1
	}
	return n
}

// list parses an array; nil if raw is not one.
func list(raw json.RawMessage) []json.RawMessage {
	var l []json.RawMessage
	_ = json.Unmarshal(raw, &l)
	return l
}

// obj parses an object; nil if raw is not one.
func obj(raw json.RawMessage) rawObject {
	var o rawObject
	_ = json.Unmarshal(raw, &o)
	return o
}

// enc encodes values that can't fail: maps, strings, lists and parsed JSON.
func enc(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// eventSize returns the length of the first event with its terminator; 0 =
// incomplete. It searches for the terminator only after the first not bytes.
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
