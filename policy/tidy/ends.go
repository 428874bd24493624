package tidy

// ends reduces a result of unknown kind to its beginning and its end, the lines
// that the call or the task names, and lines that look like headings.
func ends(d *draft, r *Result, room int) verdict {
	c := newChoice(d)
	if !r.asked.isSetting() {
		c.errors()
	}
	from, to := d.inner()
	c.span(from, to, room*2/5, room/4)
	c.outliers(from, to, good)
	c.sections(from, to, room/3)
	c.named(r, good)
	for i := from; i < to; i++ {
		if introducesLines(d.lines[i].text) {
			c.raise(i, some)
		}
	}
	return done(d.shown("head and tail", c.take(room)))
}

// sections raises the lines that begin an indented part, from the outside in, as far as
// they fit into room, and the names of sections in brackets.
func (c *choice) sections(from, to, room int) {
	const deepest = 8
	var size [deepest]int
	begin := make([]int8, to-from) // depth of the part that a line begins, + 1; 0 = none
	below := 0                     // depth of the next line that is not blank
	for i := to - 1; i >= from; i-- {
		text := unnumbered(c.d.lines[i].text, c.numbered)
		depth, blank := depthAt(text)
		if blank {
			continue
		}
		if depth < deepest && (depth < below || depth == 0 && text[0] == '[' && text[len(text)-1] == ']') {
			begin[i-from] = int8(depth) + 1
			size[depth] += len(c.d.lines[i].text) + 1
		}
		below = depth
	}
	most := 0 // the first depth that does not fit
	for most < deepest && size[most] <= room {
		room -= size[most]
		most++
	}
	for i, depth := range begin {
		if depth > 0 && int(depth) <= most {
			c.raise(from+i, some)
		}
	}
}

// depthAt returns the depth of a line in steps of two spaces.
func depthAt(text string) (depth int, blank bool) {
	if text == "" {
		return 0, true
	}
	if text[0] != ' ' && text[0] != '\t' {
		return 0, false
	}
	return indent(text) / 2, unindented(text) == ""
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

// introducesLines reports whether a line introduces the lines after it, like the line of a file, a
// hunk or a commit in a patch, or a heading.
func introducesLines(text string) bool { return beginsAny(text, headings) }

var headings = byFirst("diff --git ", "@@ ", "commit ", "+++ ", "# ", "## ", "### ", "==> ", "=== ", "*** ", "--- ")
