// Package elements replaces the elements of a JSON array, and leaves every other byte of
// the document unchanged.
package elements

import (
	"bytes"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// A List is a JSON array inside a document. An entry of Elems may span several
// adjacent elements that belong together.
type List struct {
	At    jsonscan.Span // with brackets; zero if there are none, as for the lines of a file
	Elems []jsonscan.Span
	Sep   string // separator if the list has fewer than two elements; "" = a comma
}

// A Piece is one element to write.
type Piece struct {
	Raw  []byte // nil = element From of the document, unchanged
	From int    // index of the original element; -1 = a new element
}

// A Doc is a document whose bytes need not lie in one piece.
type Doc interface {
	Len() int
	// Append appends the bytes [from, to).
	Append(dst []byte, from, to int) []byte
}

// wholeDocument is a document in one piece.
type wholeDocument []byte

func (d wholeDocument) Len() int { return len(d) }

func (d wholeDocument) Append(dst []byte, from, to int) []byte { return append(dst, d[from:to]...) }

// Write returns doc with the list made of pieces. Each piece except the first keeps the
// separator that preceded its element. A new element, and an element that was the first,
// gets the separator before the second element.
func (l List) Write(doc []byte, pieces []Piece) []byte { return l.WriteDoc(wholeDocument(doc), pieces) }

// WriteDoc is Write for a document in several pieces.
func (l List) WriteDoc(doc Doc, pieces []Piece) []byte {
	out := make([]byte, 0, l.size(doc, pieces))
	out = add(out, doc, l.lead(doc))
	for k := 0; k < len(pieces); {
		p := pieces[k]
		if k > 0 {
			out = l.separate(out, doc, p.From)
		}
		k++
		if p.Raw != nil {
			out = append(out, p.Raw...)
			continue
		}
		last := p.From
		for k < len(pieces) && pieces[k].Raw == nil && pieces[k].From == last+1 {
			last++
			k++
		}
		out = doc.Append(out, l.Elems[p.From].Start, l.Elems[last].End)
	}
	return add(out, doc, l.tail(doc))
}

func add(dst []byte, doc Doc, at jsonscan.Span) []byte { return doc.Append(dst, at.Start, at.End) }

// lead returns the bytes before the first element, from the start of the document.
func (l List) lead(doc Doc) jsonscan.Span {
	switch {
	case len(l.Elems) > 0:
		return jsonscan.Span{End: l.Elems[0].Start}
	case l.At.End == 0:
		return jsonscan.Span{End: doc.Len()}
	}
	return jsonscan.Span{End: l.At.Start + 1}
}

// tail returns the bytes after the last element, to the end of the document.
func (l List) tail(doc Doc) jsonscan.Span {
	switch n := len(l.Elems); {
	case n > 0:
		return jsonscan.Span{Start: l.Elems[n-1].End, End: doc.Len()}
	case l.At.End == 0:
		return jsonscan.Span{}
	}
	return jsonscan.Span{Start: l.At.End - 1, End: doc.Len()}
}

// separator returns the bytes before an element other than the first: a part of the
// document, or a text if the list has fewer than two elements.
func (l List) separator(from int) (at jsonscan.Span, text string) {
	if from <= 0 {
		from = 1
	}
	switch {
	case from < len(l.Elems):
		return jsonscan.Span{Start: l.Elems[from-1].End, End: l.Elems[from].Start}, ""
	case l.Sep != "":
		return jsonscan.Span{}, l.Sep
	}
	return jsonscan.Span{}, ","
}

func (l List) separate(dst []byte, doc Doc, from int) []byte {
	at, text := l.separator(from)
	return append(add(dst, doc, at), text...)
}

func (l List) size(doc Doc, pieces []Piece) int {
	size := func(at jsonscan.Span) int { return at.End - at.Start }
	n := size(l.lead(doc)) + size(l.tail(doc))
	for _, p := range pieces {
		if p.Raw == nil {
			n += size(l.Elems[p.From])
		}
		at, text := l.separator(p.From)
		n += len(p.Raw) + size(at) + len(text)
	}
	return n
}

// Same reports whether two messages have the same raw form, so that no message has to be
// rewritten.
func Same(a, b *message.Message) bool {
	x, y := a.Raw(), b.Raw()
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	return &x[0] == &y[0] || bytes.Equal(x, y)
}

// Changed reports whether an edit changed a part of a message that must not be edited: a
// sealed part, a call, or the number and kinds of the parts. A text may replace a picture,
// a sound or a file. Roles and the media of sealed parts are not compared.
func Changed(was, is *message.Message) bool {
	if Same(was, is) {
		return false
	}
	if len(was.Parts) != len(is.Parts) {
		return true
	}
	for i := range was.Parts {
		a, b := &was.Parts[i], &is.Parts[i]
		if replaced(a, b) {
			continue
		}
		if a.Kind != b.Kind || a.Sealed != b.Sealed || a.CallID != b.CallID || a.Name != b.Name || !bytes.Equal(a.Args, b.Args) {
			return true
		}
		if a.Sealed && a.Text != b.Text {
			return true
		}
	}
	return false
}

// replaced reports whether a text replaces a media part.
func replaced(was, is *message.Part) bool {
	return was.Kind.IsMedia() && !was.Sealed && was.CallID == is.CallID && !is.Sealed && is.Media == nil && is.Text != "" &&
		(is.Kind == message.KindText || is.Kind == message.KindToolResult)
}

// Sources returns an error unless every message of the view has a source, which is -1 or
// the index of one of the n messages.
func Sources(view []message.Message, sources []int, n int) error {
	if len(view) != len(sources) {
		return fmt.Errorf("wire: %d messages, but %d sources", len(view), len(sources))
	}
	for k, src := range sources {
		if src < -1 || src >= n {
			return fmt.Errorf("wire: the source of message %d of the view is %d, but the request has %d messages", k+1, src, n)
		}
	}
	return nil
}
