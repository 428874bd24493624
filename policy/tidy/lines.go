package tidy

import (
	"fmt"
	"slices"
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
	lineJoin = 20 // a shorter cut would not be worth its note
)

// longLines cuts very long lines. Outside of code, lines that hold an error stay whole.
func longLines(d *draft, r *Result, _ int) verdict {
	n := 0
	for i := range d.lines {
		if l := d.lines[i]; len(l.text) > longLine && l.segs == nil && (r.asked.isCode() || !holdsError(l.text)) {
			if n == 0 {
				d.lines = append(d.lent.lines(len(d.lines)), d.lines...)
			}
			d.lines[i] = clipped(d.text, l, r.spots())
			n++
		}
	}
	if n == 0 {
		return pass
	}
	d.leftOut(counts(n, "long line") + " cut")
	return did
}

// clipped returns a line without its middle. The text around the spots stays.
func clipped(text string, l line, spots []int) line {
	segs := []policy.Segment{{From: l.from, To: charBefore(text, l.from, l.from+lineHead)}}
	keep := func(from, to int) {
		last := &segs[len(segs)-1]
		to = charBefore(text, l.from, to)
		if from = charAfter(text, from, l.to); from <= last.To+lineJoin {
			last.To = max(last.To, to)
			return
		}
		segs = append(segs, policy.Segment{Lit: fmt.Sprintf(" … %d chars … ", utf8.RuneCountInString(text[last.To:from]))}, policy.Segment{From: from, To: to})
	}
	kept := 0
	for k, _ := slices.BinarySearch(spots, l.from); k < len(spots) && spots[k] < l.to && kept < mostSpots; k++ {
		keep(max(spots[k]-lineTail, l.from), min(spots[k]+lineTail, l.to))
		kept++
	}
	keep(l.to-lineTail, l.to)
	return l.rewritten(text, segs...)
}

// charBefore returns the start of the character at i, or from.
func charBefore(text string, from, i int) int {
	for i > from && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// charAfter returns the start of the next character after i, or to.
func charAfter(text string, i, to int) int {
	for i < to && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
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
