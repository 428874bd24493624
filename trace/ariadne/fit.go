package ariadne

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// The server cuts strings of more than 102400 UTF-16 units, possibly within a
// character. This package cuts them earlier, at a character boundary.
const (
	maxUnits    = 64_000
	maxElements = 4_096 // of an array, if the span is still too large
	cutMark     = "… [cut, the whole is in the audit log]"
)

// fit encodes the span in at most limit bytes. It cuts long strings; if that is
// not enough, it cuts all strings and arrays shorter and shorter; in the end it
// replaces the data.
func fit(s *wireSpan, limit int) []byte {
	if len(s.data) > maxUnits {
		s.data = shorten(s.data, maxUnits, -1)
	}
	encoded := s.encode()
	full := s.data
	for units, elements := maxUnits/2, maxElements; len(encoded) > limit && units >= 64; units, elements = units/2, elements/2 {
		s.data = shorten(full, units, elements)
		encoded = s.encode()
	}
	if len(encoded) > limit {
		s.data = substitute(clip(s.session, maxMeta), len(full))
		s.traceID, s.parentID = clip(s.traceID, maxMeta), clip(s.parentID, maxMeta)
		encoded = s.encode()
	}
	return encoded
}

// substitute returns the data of a span that is too large even after cutting.
func substitute(session string, size int) []byte {
	b := strconv.AppendInt([]byte(`{"data_bytes":`), int64(size), 10)
	b = appendOptional(b, "session_id", session)
	b = appendMember(b, "output_text", "too large for the viewer; the whole is in the audit log")
	return append(b, '}')
}

// shorten rewrites a JSON value with every string cut to units UTF-16 units and every
// array to its first elements (all of them when negative). Key order and numbers stay
// unchanged.
func shorten(raw []byte, units, elements int) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	w := shortener{dec: dec, units: units, elements: elements}
	w.value()
	return w.out
}

// shortener copies valid JSON token by token.
type shortener struct {
	dec             *json.Decoder
	units, elements int
	out             []byte
}

func (w *shortener) value() {
	token, err := w.dec.Token()
	if err != nil {
		return // the input was valid when it came in
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			w.object()
		} else {
			w.array()
		}
	case string:
		w.out = jsonscan.AppendQuote(w.out, cut(v, w.units))
	case json.Number:
		w.out = append(w.out, v...)
	case bool:
		w.out = strconv.AppendBool(w.out, v)
	case nil:
		w.out = append(w.out, "null"...)
	}
}

func (w *shortener) object() {
	w.out = append(w.out, '{')
	for first := true; w.dec.More(); first = false {
		token, err := w.dec.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return
		}
		if !first {
			w.out = append(w.out, ',')
		}
		w.out = append(jsonscan.AppendQuote(w.out, key), ':')
		w.value()
	}
	w.end('}')
}

func (w *shortener) array() {
	w.out = append(w.out, '[')
	for n := 0; w.dec.More(); n++ {
		keep := len(w.out)
		if n > 0 {
			w.out = append(w.out, ',')
		}
		w.value()
		if w.elements >= 0 && n >= w.elements {
			w.out = w.out[:keep]
		}
	}
	w.end(']')
}

func (w *shortener) end(close byte) {
	_, _ = w.dec.Token() // the closing bracket, which More has seen
	w.out = append(w.out, close)
}

// cut returns s, or its first units UTF-16 units and a mark.
func cut(s string, units int) string {
	if len(s) <= units {
		return s
	}
	n := 0
	for i, r := range s {
		if n += utf16.RuneLen(r); n > units {
			return s[:i] + cutMark
		}
	}
	return s
}
