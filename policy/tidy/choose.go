package tidy

import (
	"bytes"
	"strconv"
)

// Ranks of a line: what is left of a large result is taken from the highest
// rank down, as far as there is room.
const (
	drop uint8 = iota
	fill       // where nothing better is left
	near       // around something better
	some
	good
	best
	must // whatever it costs
)

// choice is which lines of a draft stay.
type choice struct {
	d        *draft
	rank     []uint8
	from, to int  // between the frame
	numbered bool // the lines have their numbers in front
}

func newChoice(d *draft) *choice {
	c := &choice{d: d, rank: make([]uint8, len(d.lines))}
	c.from, c.to = d.inner()
	c.numbered = d.numbered(c.from, c.to)
	for i := range d.lines {
		if framed(d.lines[i].text, i, len(d.lines)) {
			c.rank[i] = must
		}
	}
	return c
}

// raise gives a line at least a rank.
func (c *choice) raise(i int, rank uint8) {
	if i >= 0 && i < len(c.rank) {
		c.rank[i] = max(c.rank[i], rank)
	}
}

// around raises a line, and those beside it to near.
func (c *choice) around(i int, rank uint8, before, after int) {
	c.raise(i, rank)
	for k := i - before; k <= i+after; k++ {
		c.raise(k, near)
	}
}

// errors lets every line stay that holds one.
func (c *choice) errors() {
	for i := range c.d.lines {
		if holdsError(c.d.lines[i].text) {
			c.around(i, must, 1, 2)
		}
	}
}

// named raises the lines that hold a word which the call or the task names, up
// to so many for a word: what stands everywhere tells nothing.
func (c *choice) named(words terms, rank uint8) {
	const most = 12
	found := map[string]int{}
	for i := range c.d.lines {
		if w := words.in(c.d.lines[i].text); w != "" {
			if found[w]++; found[w] <= most {
				c.around(i, rank, 1, 2)
			}
		}
	}
}

// take leaves the lines of the highest ranks in room bytes, and says in place of
// the others which they were. It reports how many lines it left out.
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

// within marks the lines that fit, rank by rank. Of the rank that does not fit
// the first ones stay.
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

// bridge keeps what is no longer than the line that would stand for it.
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

// gap is the line that stands for lines [from:to): their numbers, those of the
// file where it has them.
func (c *choice) gap(from, to int) line {
	first, last := c.number(from), c.number(to-1)
	if first == last {
		return ours("⋮ " + strconv.Itoa(first))
	}
	return ours("⋮ " + strconv.Itoa(first) + "–" + strconv.Itoa(last))
}

// number is the number of a line: what stands in front of it, or what it is
// within the frame.
func (c *choice) number(i int) int {
	l := &c.d.lines[i]
	if end := numberEnd(l.text); c.numbered && end > 0 {
		n := 0
		for k := range end {
			if isDigit(l.text[k]) {
				n = 10*n + int(l.text[k]-'0')
			}
		}
		return n
	}
	if i < c.from {
		return i + 1
	}
	return l.no - c.d.lines[c.from].no + 1
}
