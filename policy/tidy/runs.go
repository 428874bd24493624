package tidy

import (
	"strconv"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// leastRun is the smallest number of equal consecutive lines that are folded.
const leastRun = 3

// repeats reports whether the draft has leastRun equal consecutive lines.
func (d *draft) repeats() bool {
	n := 1
	for i := 1; i < len(d.lines) && n < leastRun; i++ {
		if n++; d.lines[i].text != d.lines[i-1].text {
			n = 1
		}
	}
	return n >= leastRun
}

// counted reports whether a line ends with a count written by runs.
func counted(text string) bool {
	i := len(text)
	for i > 0 && isDigit(text[i-1]) {
		i--
	}
	return i < len(text) && strings.HasSuffix(text[:i], " × ")
}

// runs folds equal consecutive lines into one line with a count. It does not change
// files, because an agent that edits a file needs every line.
func runs(d *draft, r *Result, _ int) verdict {
	if r.asked.file != "" {
		return pass
	}
	if !d.repeats() {
		return pass
	}
	changed := false
	out := d.lent.lines(len(d.lines))
	for i := 0; i < len(d.lines); {
		n := 1
		for i+n < len(d.lines) && d.lines[i+n].text == d.lines[i].text {
			n++
		}
		if counted(d.lines[i].text) {
			n = 1
		}
		if times := " × " + strconv.Itoa(n); n >= leastRun && (n-1)*(len(d.lines[i].text)+1) > len(times) {
			l := d.lines[i]
			out = append(out, l.rewritten(d.text, append(l.segments(), policy.Segment{Lit: times})...))
			changed = true
		} else {
			out = append(out, d.lines[i:i+n]...)
		}
		i += n
	}
	if changed {
		d.lines = out
	}
	return done(changed)
}
