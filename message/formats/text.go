package formats

import (
	"sort"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// text holds the bytes of a file, in pieces. Bytes that were copied into the body are
// not stored twice.
type text struct {
	pieces []textPiece // in order, without gaps
	size   int
}

type textPiece struct {
	start int // in the file
	bytes []byte
}

// minPiece is the minimum average length of the pieces of a text, because each
// piece needs a slice or two.
const minPiece = 256

// newText returns the text of a file. If the body holds most of it, the text
// refers to the body and stores only the bytes between the copied pieces.
// Otherwise it stores the file itself.
func newText(data, body []byte, copied []piece) text {
	t := text{size: len(data)}
	if !coverMost(copied, len(data)) {
		t.pieces = []textPiece{{0, data}}
		return t
	}
	end, between := 0, 0
	for _, p := range copied {
		between += p.file - end
		end = p.file + p.size
	}
	gaps := make([]byte, 0, between+len(data)-end) // a separate slice, not a part of data
	gap := func(from, to int) {
		if from < to {
			at := len(gaps)
			gaps = append(gaps, data[from:to]...)
			t.pieces = append(t.pieces, textPiece{from, gaps[at:]})
		}
	}
	end = 0
	for _, p := range copied {
		gap(end, p.file)
		t.pieces = append(t.pieces, textPiece{p.file, body[p.body : p.body+p.size]})
		end = p.file + p.size
	}
	gap(end, len(data))
	return t
}

// coverMost reports whether the pieces are in order, make up most of a file of
// this size, and are long enough.
func coverMost(copied []piece, size int) bool {
	end, sum := 0, 0
	for _, p := range copied {
		if p.file < end {
			return false
		}
		end, sum = p.file+p.size, sum+p.size
	}
	return sum > size/2 && sum > minPiece*len(copied)
}

// Len implements [elements.Doc].
func (t *text) Len() int { return t.size }

// Append implements [elements.Doc].
func (t *text) Append(dst []byte, from, to int) []byte {
	k := sort.Search(len(t.pieces), func(k int) bool { return t.pieces[k].start > from }) - 1
	for ; from < to; k++ {
		p := &t.pieces[k]
		part := p.bytes[from-p.start : min(to-p.start, len(p.bytes))]
		dst = append(dst, part...)
		from += len(part)
	}
	return dst
}

// of returns a range of the file.
func (t *text) of(at jsonscan.Span) []byte {
	return t.Append(make([]byte, 0, at.End-at.Start), at.Start, at.End)
}
