package tidy

import (
	"strconv"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// leastRun is how often a line must stand one below the other to be folded.
const leastRun = 3

// repeats reports whether a line stands so often one below the other anywhere.
func (d *draft) repeats() bool {
	n := 1
	for i := 1; i < len(d.lines) && n < leastRun; i++ {
		if n++; d.lines[i].text != d.lines[i-1].text {
			n = 1
		}
	}
	return n >= leastRun
}

// counted reports whether a line ends with how often it stood there.
func counted(text string) bool {
	i := len(text)
	for i > 0 && isDigit(text[i-1]) {
		i--
	}
	return i < len(text) && strings.HasSuffix(text[:i], " × ")
}

// runs folds lines that are the same, one below the other: once, and how often.
// Not in a file: who edits it wants every line.
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
