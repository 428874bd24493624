package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// pieces makes lines of pieces: many of them in one block of memory, which stays
// where it is as others are added.
type pieces struct {
	lent *lent
	segs []policy.Segment
	text strings.Builder
	// Where the line that is made begins in both.
	firstSeg, firstByte int
}

// What a block holds.
const (
	blockSegs  = 1 << 9
	blockBytes = 1 << 14
)

// begin begins a line.
func (p *pieces) begin() { p.firstSeg, p.firstByte = len(p.segs), p.text.Len() }

// add adds a piece, of text or of our own.
func (p *pieces) add(text string, s policy.Segment) {
	if len(p.segs) == cap(p.segs) {
		p.segs = append(p.lent.pieces(2*(len(p.segs)-p.firstSeg)), p.segs[p.firstSeg:]...)
		p.firstSeg = 0
	}
	p.segs = append(p.segs, s)
	if s.Lit == "" {
		s.Lit = text[s.From:s.To]
	}
	if p.text.Cap()-p.text.Len() < len(s.Lit) {
		was := p.text.String()[p.firstByte:]
		p.text, p.firstByte = strings.Builder{}, 0
		p.text.Grow(max(blockBytes, 2*(len(was)+len(s.Lit))))
		p.text.WriteString(was)
	}
	p.text.WriteString(s.Lit)
}

// end returns the line: what it is made of, never nil, and how it is read.
func (p *pieces) end() (segs []policy.Segment, shown string) {
	n := len(p.segs)
	if n == p.firstSeg {
		return []policy.Segment{}, ""
	}
	return p.segs[p.firstSeg:n:n], p.text.String()[p.firstByte:]
}
