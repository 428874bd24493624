package message

import (
	"encoding/base64"
	"maps"
	"slices"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// A Slot lets a text replace a value that is not a string. An edit replaces the
// whole span of the part by Before, the text and After, so that the new value
// has the form that the wire requires.
type Slot struct {
	Before, After string // JSON around the text
	// Base64 means that the text is written in base64, for wires that accept no
	// other form there. The part can't be edited again.
	Base64 bool
}

// Wrapped returns m, which came from FromWire, with the spans of these parts
// marked as objects instead of strings. Then an edit replaces the object by
// {key: text}, so that the value stays an object. Wrapped is for codecs.
func (m Message) Wrapped(key string, parts ...int) Message {
	slot := Slot{Before: string(jsonscan.AppendQuote([]byte("{"), key)) + ":", After: "}"}
	slots := make(map[int]Slot, len(parts))
	for _, i := range parts {
		slots[i] = slot
	}
	return m.Slotted(slots)
}

// Slotted returns m, which came from FromWire, with the spans of these parts
// marked as values other than strings. Then a text can replace a part that is a
// picture, a sound or a file. Slotted is for codecs.
func (m Message) Slotted(slots map[int]Slot) Message {
	if len(slots) == 0 {
		return m
	}
	w := *m.wire
	if w.slots = maps.Clone(w.slots); w.slots == nil {
		w.slots = make(map[int]Slot, len(slots))
	}
	maps.Copy(w.slots, slots)
	m.wire = &w
	return m
}

// Replaceable reports whether part i is a picture, a sound or a file that
// [Message.WithPartText] can replace by a text. That needs a wire that allows a
// text in its place, or a message that was made in Go.
func (m Message) Replaceable(i int) bool {
	if i < 0 || i >= len(m.Parts) || m.Parts[i].Sealed || !m.Parts[i].Kind.IsMedia() {
		return false
	}
	if m.wire == nil {
		return true
	}
	_, ok := m.wire.slots[i]
	return ok && m.TextSpan(i).End != 0
}

// replaced returns part p of a message of role with s as its text. A text in
// place of media belongs to the result that held the media. A result may lack
// its call's id, so the role is checked as well.
func (p Part) replaced(role Role, s string) Part {
	if !p.Kind.IsMedia() {
		p.Text = s
		return p
	}
	text := Part{Kind: KindText, Text: s, CallID: p.CallID}
	if p.CallID != "" || role == RoleTool {
		text.Kind = KindToolResult
	}
	return text
}

// WithPartTexts is [Message.WithPartText] for several parts at once: the raw
// form is rewritten only once.
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
		parts[i] = parts[i].replaced(m.Role, s)
	}
	m.Parts, m.wire, m.memo = parts, w, new(memo)
	return m, nil
}

// replaceAll returns the raw form with the given texts in these parts.
func (w *wire) replaceAll(texts map[int]string) (*wire, error) {
	if w == nil {
		return nil, nil
	}
	order := make([]int, 0, len(w.spans)) // by position
	for i, sp := range w.spans {
		if sp.End != 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return w.spans[a].Start - w.spans[b].Start })
	out := &wire{format: w.format, raw: make([]byte, 0, w.sized(texts)), spans: slices.Clone(w.spans), slots: maps.Clone(w.slots)}
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
		if out.spans[i] = (Span{}); text.End != 0 {
			out.spans[i] = Span{Start: len(out.raw) + text.Start, End: len(out.raw) + text.End}
		}
		out.raw = append(out.raw, value...)
		read = at.End
		done++
	}
	if done < len(texts) {
		return nil, ErrNotText
	}
	out.raw = append(out.raw, w.raw[read:]...)
	for i := range texts {
		delete(out.slots, i) // the span is now that of the string inside the slot
	}
	return out, nil
}

// sized estimates the length of the raw form with these texts, so that the buffer for
// a reduced result of a megabyte is small.
func (w *wire) sized(texts map[int]string) int {
	n := len(w.raw)
	for i, s := range texts {
		if i < len(w.spans) {
			slot := w.slots[i]
			n += len(s) + len(s)/16 + len(slot.Before) + len(slot.After) + 16 - (w.spans[i].End - w.spans[i].Start)
		}
	}
	return max(n, 0)
}

// value returns the JSON for text s of part i and the span of the string in it. The
// span is zero if the string can't be edited in place.
func (w *wire) value(i int, s string) (value []byte, text Span) {
	slot := w.slots[i]
	value = make([]byte, 0, len(slot.Before)+len(s)+len(s)/16+len(slot.After)+16)
	value = append(value, slot.Before...)
	if slot.Base64 {
		value = append(base64.StdEncoding.AppendEncode(append(value, '"'), []byte(s)), '"')
		return append(value, slot.After...), Span{}
	}
	text.Start = len(value)
	value = jsonscan.AppendQuote(value, s)
	text.End = len(value)
	return append(value, slot.After...), text
}
