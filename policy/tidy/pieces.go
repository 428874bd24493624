package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// pieces builds lines from pieces. It allocates many lines in one block of memory. A
// block does not move when pieces adds another block.
type pieces struct {
	lent *borrowedLists
	segs []policy.Segment
	text strings.Builder
	// Start of the current line in segs and in text.
	firstSeg, firstByte int
	only                string // the text of the first piece; it is copied when a second piece follows
}

// The sizes of a block.
const (
	blockSegs  = 1 << 9
	blockBytes = 1 << 14
)

// begin begins a line.
func (p *pieces) begin() { p.firstSeg, p.firstByte = len(p.segs), p.text.Len() }

// add adds a piece, which is a range of text or a literal.
func (p *pieces) add(text string, s policy.Segment) {
	if len(p.segs) == cap(p.segs) {
		p.segs = append(p.lent.pieces(2*(len(p.segs)-p.firstSeg)), p.segs[p.firstSeg:]...)
		p.firstSeg = 0
	}
	p.segs = append(p.segs, s)
	shown := s.Lit
	if shown == "" {
		shown = text[s.From:s.To]
	}
	switch len(p.segs) - p.firstSeg {
	case 1:
		p.only = shown
		return
	case 2:
		p.write(p.only)
	}
	p.write(shown)
}

// write writes text of the current line.
func (p *pieces) write(s string) {
	if p.text.Cap()-p.text.Len() < len(s) {
		was := p.text.String()[p.firstByte:]
		p.text, p.firstByte = strings.Builder{}, 0
		p.text.Grow(max(blockBytes, 2*(len(was)+len(s))))
		p.text.WriteString(was)
	}
	p.text.WriteString(s)
}

// end returns the segments of the line, never nil, and its text.
func (p *pieces) end() (segs []policy.Segment, shown string) {
	n := len(p.segs)
	switch n - p.firstSeg {
	case 0:
		return []policy.Segment{}, ""
	case 1:
		return p.segs[p.firstSeg:n:n], p.only
	}
	return p.segs[p.firstSeg:n:n], p.text.String()[p.firstByte:]
}
