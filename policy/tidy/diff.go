package tidy

import (
	"fmt"

	"github.com/agentcompact/compact/policy"
)

// A hunk is one change of a file: lines [a, aEnd) of the old text became lines
// [b, bEnd) of the new text.
type hunk struct{ a, aEnd, b, bEnd int }

// Limits of the differences in the output.
const (
	diffContext = 3 // unchanged lines before and after a hunk
	diffHunks   = 20
	diffLines   = 200 // changed lines
)

// differ returns the differences between two files. ok is false if there are none
// or too many. Line numbers at the start of lines are ignored.
func differ(a, b []line) (hunks []hunk, ok bool) {
	as, bs := contents(a), contents(b)
	i, j, changed := 0, 0, 0
	for i < len(as) || j < len(bs) {
		if i < len(as) && j < len(bs) && as[i] == bs[j] {
			i, j = i+1, j+1
			continue
		}
		di, dj, found := resync(as[i:], bs[j:])
		if !found {
			return nil, false
		}
		changed += di + dj
		if hunks = append(hunks, hunk{i, i + di, j, j + dj}); len(hunks) > diffHunks || changed > diffLines {
			return nil, false
		}
		i, j = i+di, j+dj
	}
	return hunks, len(hunks) > 0
}

// resync returns the smallest numbers of lines to skip so that both texts
// continue with three equal lines or reach their ends together.
func resync(a, b []string) (da, db int, ok bool) {
	const alike = 3
	for sum := 1; sum <= diffLines && sum <= len(a)+len(b); sum++ {
		for da = max(0, sum-len(b)); da <= min(sum, len(a)); da++ {
			db = sum - da
			n := 0
			for n < alike && da+n < len(a) && db+n < len(b) && a[da+n] == b[db+n] {
				n++
			}
			if n == alike || da+n == len(a) && db+n == len(b) {
				return da, db, true
			}
		}
	}
	return 0, 0, false
}

// contents returns the texts of lines without their line numbers.
func contents(lines []line) []string {
	d := draft{lines: lines}
	numbered := d.numbered(0, len(lines))
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = unnumbered(lines[i].text, numbered)
	}
	return out
}

// touches reports whether the lines shown around h and the next hunk touch.
func (h hunk) touches(next hunk) bool { return next.b-h.bEnd <= 2*diffContext }

// unified returns lines for hunks that are near each other, in the format of a unified
// diff. The result does not hold removed lines; a line with their number replaces them.
func unified(hunks []hunk, is *draft) []line {
	first, last := hunks[0], hunks[len(hunks)-1]
	from, to := max(first.b-diffContext, 0), min(last.bEnd+diffContext, len(is.lines))
	if to == len(is.lines) && to > last.bEnd && is.lines[to-1].from == len(is.text) {
		to-- // the empty line after the last line feed
	}
	before, after := first.b-from, to-last.bEnd
	out := []line{literalLine(fmt.Sprintf("@@ -%d,%d +%d,%d @@", first.a-before+1, last.aEnd+after-first.a+before, from+1, to-from))}
	for i := from; i < to; i++ {
		sign := " "
		for _, h := range hunks {
			if i == h.b && h.aEnd > h.a {
				out = append(out, h.removed())
			}
			if i >= h.b && i < h.bEnd {
				sign = "+"
			}
		}
		l := is.lines[i]
		out = append(out, l.rewritten(is.text, append([]policy.Segment{{Lit: sign}}, l.segments()...)...))
	}
	if last.b >= to && last.aEnd > last.a {
		out = append(out, last.removed())
	}
	return out
}

func (h hunk) removed() line {
	return literalLine("⋮ " + counts(h.aEnd-h.a, "line") + " removed here")
}
