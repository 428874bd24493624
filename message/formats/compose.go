package formats

import (
	"sort"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// composer builds a request body from pieces of the file, and remembers the origin
// of each piece.
type composer struct {
	data   []byte // the file
	units  []unit
	body   []byte
	pieces []piece
	items  []int // for each element of the body's list, the unit in which it begins

	protected map[int]bool // units that are marked as protected
}

// A unit is a part of a file that is kept or removed as a whole: a line, or an
// element of a list.
type unit struct {
	at   jsonscan.Span
	line int // line on which the unit begins
}

// A piece is a part of the file that was copied into the body.
type piece struct {
	body, file, size int
	unit             int
}

func (c *composer) text(s string) { c.body = append(c.body, s...) }

// copy copies a part of the file that lies in a unit.
func (c *composer) copy(unit int, at jsonscan.Span) {
	c.pieces = append(c.pieces, piece{len(c.body), at.Start, at.End - at.Start, unit})
	c.body = append(c.body, at.Of(c.data)...)
}

// item begins an element of the list.
func (c *composer) item(unit int) {
	if len(c.items) > 0 {
		c.body = append(c.body, ',')
	}
	c.items = append(c.items, unit)
}

// within returns the pieces that make up a range of the body.
func (c *composer) within(start, end int) []piece {
	from := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].body+c.pieces[i].size > start })
	to := from
	for to < len(c.pieces) && c.pieces[to].body < end {
		to++
	}
	return c.pieces[from:to]
}

// members writes some members of an object, if it has them. In pairs, the name in the object and
// the name to write alternate.
func (c *composer) members(unit int, o object, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if !o.has(pairs[i]) {
			continue
		}
		if c.body[len(c.body)-1] != '{' {
			c.text(",")
		}
		c.text(`"` + pairs[i+1] + `":`)
		c.copy(unit, o.by[pairs[i]])
	}
}

// opening returns the text before element k of a list: the start of the list, or a
// comma.
func opening(k int, open string) string {
	if k == 0 {
		return open
	}
	return ","
}
