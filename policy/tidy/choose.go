package tidy

import (
	"bytes"
	"slices"
	"strconv"
)

// Ranks of a line. A reducer keeps the lines of a large result from the highest rank
// down, as far as there is room.
const (
	drop uint8 = iota
	fill       // kept only if there is room after all better lines
	near       // near a better line
	some
	good
	best
	wanted // the call or the task looks for it; few lines
	must   // always kept
)

// A choice decides which lines of a draft stay.
type choice struct {
	d        *draft
	rank     []uint8
	from, to int   // the lines inside the frame
	numbered bool  // the lines begin with their numbers
	plain    bool  // no text precedes the lines, only empty lines
	parts    []int // the lines that begin a declaration; a gap states how many of them it replaces; nil = it does not
}

func newChoice(d *draft) *choice {
	c := &choice{d: d, rank: make([]uint8, len(d.lines))}
	c.from, c.to = d.inner()
	c.numbered = d.numbered(c.from, c.to)
	c.plain = true
	for i := range c.from {
		c.plain = c.plain && d.lines[i].text == ""
	}
	for i := range d.lines {
		if i >= c.to || inFrame(d.lines[i].text, i, len(d.lines)) {
			c.rank[i] = must
		}
	}
	return c
}

// raise raises a line to at least a rank.
func (c *choice) raise(i int, rank uint8) {
	if i >= 0 && i < len(c.rank) {
		c.rank[i] = max(c.rank[i], rank)
	}
}

// around raises a line to rank, and its neighbors to near.
func (c *choice) around(i int, rank uint8, before, after int) {
	c.raise(i, rank)
	for k := i - before; k <= i+after; k++ {
		c.raise(k, near)
	}
}

// errors keeps every line that holds an error, and its neighbors if there is
// room.
func (c *choice) errors() {
	for i := range c.d.lines {
		if holdsError(c.d.lines[i].text) {
			c.around(i, must, 1, 2)
		}
	}
}

// named raises lines that hold a word of the call or the task. For each name, it raises
// only the first few lines, because a frequent word is not informative.
func (c *choice) named(r *Result, rank uint8) {
	const most = 12
	words := r.words()
	found := map[string]int{}
	for i := range c.d.lines {
		if w := words.in(c.d.lines[i].text); w != "" {
			if found[w]++; found[w] <= most {
				c.around(i, rank, 1, 2)
			}
		}
	}
	c.spotted(r.spots())
}

// spotted raises the lines at the spots, which are few.
func (c *choice) spotted(spots []int) {
	for i := 0; i < len(c.d.lines) && len(spots) > 0; i++ {
		l := &c.d.lines[i]
		if l.no == 0 {
			continue
		}
		for len(spots) > 0 && spots[0] < l.from {
			spots = spots[1:]
		}
		if len(spots) > 0 && spots[0] < l.to {
			c.around(i, wanted, 0, 1)
		}
	}
}

// size returns the bytes of the lines of at least a rank.
func (c *choice) size(rank uint8) (n int) {
	for i := c.from; i < c.to; i++ {
		if c.rank[i] >= rank {
			n += len(c.d.lines[i].text) + 1
		}
	}
	return n
}

// take keeps the lines of the highest ranks that fit into room bytes. It replaces the
// others by lines with their numbers, and returns the number of lines that it left out.
func (c *choice) take(room int) (out int) {
	keep := c.within(room)
	c.bridge(keep)
	lines := c.d.lent.lines(len(c.d.lines) / 4)
	for i := 0; i < len(keep); {
		if keep[i] {
			lines = append(lines, c.d.lines[i])
			i++
			continue
		}
		from := i
		for i < len(keep) && !keep[i] {
			i++
		}
		lines = append(lines, c.gap(from, i))
		out += i - from
	}
	c.d.lines = lines
	return out
}

// within marks the lines that fit, rank by rank. If not all lines of a rank fit,
// the first ones are kept.
func (c *choice) within(room int) []bool {
	keep := make([]bool, len(c.rank))
	for rank := must; rank >= fill; rank-- {
		for i := 0; i < len(c.rank); i++ {
			next := bytes.IndexByte(c.rank[i:], rank)
			if next < 0 {
				break
			}
			i += next
			if n := len(c.d.lines[i].text) + 1; rank == must || n <= room {
				keep[i] = true
				room -= n
			}
		}
	}
	return keep
}

// bridge keeps the lines of short gaps, because a line that replaces them would not be
// shorter.
func (c *choice) bridge(keep []bool) {
	const gapLen = 48
	for i := 0; i < len(keep); i++ {
		if keep[i] {
			continue
		}
		from, size := i, 0
		for i < len(keep) && !keep[i] {
			size += len(c.d.lines[i].text) + 1
			i++
		}
		for k := from; k < i && size <= gapLen; k++ {
			keep[k] = true
		}
	}
}

// gap returns the line that replaces lines [from, to) and gives their numbers. If the
// lines begin with numbers, gap uses these.
func (c *choice) gap(from, to int) line {
	first, last := c.number(from), c.number(to-1)
	if first == last {
		return literalLine("⋮ " + strconv.Itoa(first))
	}
	return literalLine("⋮ " + strconv.Itoa(first) + "–" + strconv.Itoa(last) + c.hidden(from, to))
}

// hidden says how many declarations lines [from, to) hold, if there are several. Without
// this number, an outline would look complete.
func (c *choice) hidden(from, to int) string {
	const least = 5
	a, _ := slices.BinarySearch(c.parts, from)
	b, _ := slices.BinarySearch(c.parts, to)
	if b-a < least {
		return ""
	}
	return " (" + counts(b-a, "declaration") + ")"
}

// number returns the number of a line: the number at its beginning, or its position
// inside the frame if it has none.
func (c *choice) number(i int) int {
	l := &c.d.lines[i]
	if n, end := lineNumber(l.text); c.numbered && end > 0 {
		return n
	}
	if i < c.from || c.plain {
		return l.no // blank lines at the beginning count
	}
	return l.no - c.d.lines[c.from].no + 1
}
