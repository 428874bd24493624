package tidy

// ends reduces a result of unknown kind to its beginning and its end, the lines
// that the call or the task names, and lines that look like headings.
func ends(d *draft, r *Result, room int) verdict {
	c := newChoice(d)
	c.errors()
	from, to := d.inner()
	c.span(from, to, room*2/5, room/4)
	c.named(r.words(), good)
	for i := from; i < to; i++ {
		if heads(d.lines[i].text) {
			c.raise(i, some)
		}
	}
	return done(d.shown("head and tail", c.take(room)))
}

// span raises the first lines up to head bytes and the last lines up to tail
// bytes.
func (c *choice) span(from, to, head, tail int) {
	for i := from; i < to && head > 0; i++ {
		c.raise(i, best)
		head -= len(c.d.lines[i].text) + 1
	}
	for i := to - 1; i >= from && tail > 0; i-- {
		c.raise(i, best)
		tail -= len(c.d.lines[i].text) + 1
	}
}

// heads reports whether a line introduces the lines after it, like the line of a file, a
// hunk or a commit in a patch, or a heading.
func heads(text string) bool { return beginsAny(text, headings) }

var headings = byFirst("diff --git ", "@@ ", "commit ", "+++ ", "# ", "## ", "### ", "==> ", "=== ", "*** ", "--- ")
