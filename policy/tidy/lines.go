package tidy

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/agentcompact/compact/policy"
)

// Sizes for very long lines, in bytes. A line longer than longLine is cut to its
// beginning and its end.
const (
	longLine = 800
	lineHead = 400
	lineTail = 100
)

// longLines cuts very long lines.
func longLines(d *draft, _ *Result, _ int) verdict {
	n := 0
	for i := range d.lines {
		if l := d.lines[i]; len(l.text) > longLine && l.segs == nil && !holdsError(l.text) {
			if n == 0 {
				d.lines = append(d.lent.lines(len(d.lines)), d.lines...)
			}
			d.lines[i] = clipped(d.text, l)
			n++
		}
	}
	if n == 0 {
		return pass
	}
	d.leftOut(counts(n, "long line") + " cut")
	return did
}

// clipped returns a line without its middle.
func clipped(text string, l line) line {
	head, tail := l.from+lineHead, l.to-lineTail
	for head > l.from && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < l.to && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return l.rewritten(text, policy.Segment{From: l.from, To: head}, policy.Segment{Lit: fmt.Sprintf(" … %d chars … ", utf8.RuneCountInString(text[head:tail]))}, policy.Segment{From: tail, To: l.to})
}

// leftOut appends to the description of the parts that were left out.
func (d *draft) leftOut(what string) {
	if d.what != "" {
		d.what += ", "
	}
	d.what += what
}

// counts returns a number with a noun in its singular or plural.
func counts(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// shown records how a result was reduced and that out lines were left out. It
// returns false if out is 0.
func (d *draft) shown(how string, out int) bool {
	if out == 0 {
		return false
	}
	d.leftOut(fmt.Sprintf("%s, %d of %s left out", how, out, counts(d.total, "line")))
	return true
}
