package tidy

import "strings"

// tables reduces a table to its head, its ends, and the rows that differ from the
// others.
func tables(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	sep, columns := d.columns(from, to)
	if sep == 0 || r.asked.isCode() {
		return pass
	}
	c := newChoice(d)
	c.numbered = false // numbers at the start of rows are keys
	c.errors()
	for i := from; i < to; i++ {
		if n := strings.Count(d.lines[i].text, string(sep)); n != columns && strings.TrimSpace(d.lines[i].text) != "" {
			c.raise(i, some)
		}
	}
	c.raise(from, best)
	c.raise(from+1, best)
	c.outliers(from, to, some)
	c.span(from, to, room/4, room/6)
	c.named(r, good)
	return done(d.shown("head, ends and outliers of a table", c.take(room)))
}

// columns returns the separator of the columns in most lines, and the number of
// separators in such a line. sep is 0 if the text is not a table.
func (d *draft) columns(from, to int) (sep byte, n int) {
	for _, sep := range []byte{'\t', '|', ',', ';'} {
		counts := map[int]int{}
		seen := 0
		step := max((to-from)/200, 1)
		for i := from; i < to; i += step {
			if d.lines[i].text != "" {
				seen++
				counts[strings.Count(d.lines[i].text, string(sep))]++
			}
		}
		for n, rows := range counts {
			if n >= 2 && seen >= 20 && rows*10 >= seen*8 {
				return sep, n
			}
		}
	}
	return 0, 0
}
