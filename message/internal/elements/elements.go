// Package elements writes another list of elements into a JSON array and leaves
// every other byte of the document as it is.
package elements

import (
	"bytes"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// A List is a JSON array inside a document. An element may be a run of
// elements that belong together, with what separates them.
type List struct {
	At    jsonscan.Span // brackets included; zero where it has none, as lines of a file
	Elems []jsonscan.Span
	Sep   string // between elements where the list has no two of them; "" = a comma
}

// A Piece is one element of what is to be written.
type Piece struct {
	Raw  []byte // nil = element From as it stands in the document
	From int    // the element that it is, edited or not; -1 = a new one
}

// Write returns doc with the list made of pieces. Between two elements that
// were neighbours stands what stood there; any other is led in by what stood
// before it, and a new one by what stands before the second element.
func (l List) Write(doc []byte, pieces []Piece) []byte {
	out := make([]byte, 0, l.size(doc, pieces))
	out = append(out, l.lead(doc)...)
	for k := 0; k < len(pieces); {
		p := pieces[k]
		if k > 0 {
			out = append(out, l.separator(doc, p.From)...)
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
		out = append(out, doc[l.Elems[p.From].Start:l.Elems[last].End]...)
	}
	return append(out, l.tail(doc)...)
}

// lead is what stands before the first element, from the beginning.
func (l List) lead(doc []byte) []byte {
	switch {
	case len(l.Elems) > 0:
		return doc[:l.Elems[0].Start]
	case l.At.End == 0:
		return doc
	}
	return doc[:l.At.Start+1]
}

// tail is what stands behind the last element, to the end.
func (l List) tail(doc []byte) []byte {
	switch n := len(l.Elems); {
	case n > 0:
		return doc[l.Elems[n-1].End:]
	case l.At.End == 0:
		return nil
	}
	return doc[l.At.End-1:]
}

// separator is what stands before an element that is not the first.
func (l List) separator(doc []byte, from int) []byte {
	if from <= 0 {
		from = 1
	}
	switch {
	case from < len(l.Elems):
		return doc[l.Elems[from-1].End:l.Elems[from].Start]
	case l.Sep != "":
		return []byte(l.Sep)
	}
	return []byte{','}
}

func (l List) size(doc []byte, pieces []Piece) int {
	n := len(l.lead(doc)) + len(l.tail(doc))
	for _, p := range pieces {
		if p.Raw == nil {
			n += l.Elems[p.From].End - l.Elems[p.From].Start
		}
		n += len(p.Raw) + len(l.separator(doc, p.From))
	}
	return n
}

// Same reports whether a message of a view is the very message that was read:
// nothing of it is to be written anew.
func Same(a, b *message.Message) bool {
	x, y := a.Raw(), b.Raw()
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	return &x[0] == &y[0] || bytes.Equal(x, y)
}

// Changed reports whether what can't be edited of a message is other than it
// was: a sealed part, a call, or the number and kinds of the parts.
func Changed(was, is *message.Message) bool {
	if Same(was, is) {
		return false
	}
	if len(was.Parts) != len(is.Parts) {
		return true
	}
	for i := range was.Parts {
		a, b := &was.Parts[i], &is.Parts[i]
		if a.Kind != b.Kind || a.Sealed != b.Sealed || a.CallID != b.CallID || a.Name != b.Name || !bytes.Equal(a.Args, b.Args) {
			return true
		}
		if a.Sealed && a.Text != b.Text {
			return true
		}
	}
	return false
}

// Sources reports an error unless there is one source for each message of the
// view, and it is one of n messages or -1.
func Sources(view []message.Message, sources []int, n int) error {
	if len(view) != len(sources) {
		return fmt.Errorf("wire: %d messages, but %d sources", len(view), len(sources))
	}
	for k, src := range sources {
		if src < -1 || src >= n {
			return fmt.Errorf("wire: message %d of the view is said to be message %d of %d", k, src, n)
		}
	}
	return nil
}
