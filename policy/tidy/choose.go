package tidy

import (
	"fmt"
	"slices"
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
	d    *draft
	rank []uint8
}

func newChoice(d *draft) *choice {
	c := &choice{d, make([]uint8, len(d.lines))}
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

// ends raises the first and the last lines.
func (c *choice) ends(rank uint8, first, last int) {
	for i := range first {
		c.raise(i, rank)
	}
	for i := range last {
		c.raise(len(c.rank)-1-i, rank)
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
	lines := make([]line, 0, len(c.d.lines)/4)
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
		lines = append(lines, gap(c.d.lines[from:i]))
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
		for i, r := range c.rank {
			if r != rank {
				continue
			}
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
	const gapLen = 12
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

// gap is the line that stands for others.
func gap(lines []line) line {
	at := slices.IndexFunc(lines, func(l line) bool { return l.no > 0 })
	if at < 0 {
		return ours("⋮")
	}
	from, to := lines[at].no, lines[at].no
	for _, l := range lines[at:] {
		to = max(to, l.no)
	}
	if from == to {
		return ours(fmt.Sprintf("⋮ %d", from))
	}
	return ours(fmt.Sprintf("⋮ %d–%d", from, to))
}
