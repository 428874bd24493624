package tidy

// ends leaves of what has no kind its beginning and its end, the lines that the
// call or the task names, and those that head a part of it.
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

// span raises as many of the first and of the last lines as have head and tail
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

// heads reports whether a line heads what follows it: a file or a hunk of a
// patch, a commit, a heading, a title that is underlined.
func heads(text string) bool { return beginsAny(text, headings) }

var headings = byFirst("diff --git ", "@@ ", "commit ", "+++ ", "# ", "## ", "### ", "==> ", "=== ", "*** ", "--- ")
