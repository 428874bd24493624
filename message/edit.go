package message

import (
	"maps"
	"slices"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// Wrapped returns m, which came from FromWire, with the spans of these parts
// being those of objects instead of strings: an edit replaces one by
// {key: text}, so that an object is what stands there. It is for codecs.
func (m Message) Wrapped(key string, parts ...int) Message {
	if len(parts) == 0 {
		return m
	}
	w := *m.wire
	if w.keys = maps.Clone(w.keys); w.keys == nil {
		w.keys = make(map[int]string, len(parts))
	}
	for _, i := range parts {
		w.keys[i] = key
	}
	m.wire = &w
	return m
}

// WithPartTexts is [Message.WithPartText] for several parts at once: the raw
// form is written once, however many they are.
func (m Message) WithPartTexts(texts map[int]string) (Message, error) {
	for i := range texts {
		if err := m.mayEdit(i); err != nil {
			return m, err
		}
	}
	w, err := m.wire.replaceAll(texts)
	if err != nil || len(texts) == 0 {
		return m, err
	}
	parts := slices.Clone(m.Parts)
	for i, s := range texts {
		parts[i].Text = s
	}
	m.Parts, m.wire, m.memo = parts, w, new(memo)
	return m, nil
}

// replaceAll returns the raw form in which these parts read so.
func (w *wire) replaceAll(texts map[int]string) (*wire, error) {
	if w == nil {
		return nil, nil
	}
	order := make([]int, 0, len(w.spans)) // by where they stand
	for i, sp := range w.spans {
		if sp.End != 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return w.spans[a].Start - w.spans[b].Start })
	out := &wire{format: w.format, raw: make([]byte, 0, w.sized(texts)), spans: slices.Clone(w.spans), keys: w.keys}
	read, done := 0, 0
	for _, i := range order {
		at := w.spans[i]
		s, edited := texts[i]
		if !edited {
			out.spans[i] = Span{Start: at.Start + len(out.raw) - read, End: at.End + len(out.raw) - read}
			continue
		}
		out.raw = append(out.raw, w.raw[read:at.Start]...)
		value, text := w.value(i, s)
		out.spans[i] = Span{Start: len(out.raw) + text.Start, End: len(out.raw) + text.End}
		out.raw = append(out.raw, value...)
		read = at.End
		done++
	}
	if done < len(texts) {
		return nil, ErrNotText
	}
	out.raw = append(out.raw, w.raw[read:]...)
	for i := range texts {
		if w.keys[i] != "" { // from now on it is the string in the object
			if len(out.keys) == len(w.keys) {
				out.keys = maps.Clone(out.keys)
			}
			delete(out.keys, i)
		}
	}
	return out, nil
}

// sized is about how long the raw form is in which these parts read so: what is
// made of a result of a megabyte is to be small.
func (w *wire) sized(texts map[int]string) int {
	n := len(w.raw)
	for i, s := range texts {
		if i < len(w.spans) {
			n += len(s) + len(s)/16 + len(w.keys[i]) + 16 - (w.spans[i].End - w.spans[i].Start)
		}
	}
	return max(n, 0)
}

// value is what stands for text s of part i, and where in it the string is.
func (w *wire) value(i int, s string) (value []byte, text Span) {
	value = make([]byte, 0, len(s)+len(s)/16+16)
	key := w.keys[i]
	if key != "" {
		value = append(jsonscan.AppendQuote(append(value, '{'), key), ':')
	}
	text.Start = len(value)
	value = jsonscan.AppendQuote(value, s)
	text.End = len(value)
	if key != "" {
		value = append(value, '}')
	}
	return value, text
}
