package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// A line is one line of the output.
type line struct {
	no       int    // line number in the result, from 1; 0 = made by a reducer
	from, to int    // range of its bytes in the result, without the line ending
	text     string // text of the line in the output
	segs     []policy.Segment
}

// segments returns the segments that the line consists of.
func (l *line) segments() []policy.Segment {
	if l.segs != nil || l.from == l.to {
		return l.segs
	}
	return []policy.Segment{{From: l.from, To: l.to}}
}

// piece returns the segments for bytes [from, to) of the line's text.
func (l *line) piece(from, to int) (out []policy.Segment) {
	at := 0
	for _, s := range l.segments() {
		n := len(s.Lit)
		if n == 0 {
			n = s.To - s.From
		}
		a, b := max(from-at, 0), min(to-at, n)
		if at += n; a >= b {
			continue
		}
		if s.Lit != "" {
			out = append(out, policy.Segment{Lit: s.Lit[a:b]})
		} else {
			out = append(out, policy.Segment{From: s.From + a, To: s.From + b})
		}
	}
	return out
}

// literalLine returns a line made by a reducer.
func literalLine(text string) line {
	return line{text: text, segs: []policy.Segment{{Lit: text}}}
}

// rewritten returns the line with other segments. text is the whole result.
func (l line) rewritten(text string, segs ...policy.Segment) line {
	l.text, l.segs = render(text, segs), segs
	return l
}

// A draft is a result while reducers work on it.
type draft struct {
	text  string
	lines []line
	total int    // number of lines of the result; a line feed at its end begins no line
	what  string // description of the parts left out, for the first line; "" = none
	lent  *borrowedLists
}

func newDraft(text string) *draft {
	d := &draft{text: text, lent: &borrowedLists{}}
	d.lines = d.lent.lines(strings.Count(text, "\n") + 1)
	for at := 0; at <= len(text); {
		end := strings.IndexByte(text[at:], '\n')
		next := len(text) + 1
		if end += at; end < at {
			end = len(text)
		} else {
			next = end + 1
		}
		to := end
		if to > at && text[to-1] == '\r' {
			to--
		}
		d.lines = append(d.lines, line{no: len(d.lines) + 1, from: at, to: to, text: text[at:to]})
		at = next
	}
	if d.total = len(d.lines); strings.HasSuffix(text, "\n") {
		d.total--
	}
	return d
}

// size returns the number of bytes of the lines, with the line feeds between them.
func (d *draft) size() int { return size(d.lines) }

func size(lines []line) int {
	n := max(len(lines)-1, 0)
	for i := range lines {
		n += len(lines[i].text)
	}
	return n
}

// segments returns the segments of the whole output, merged into as few as
// possible.
func (d *draft) segments() []policy.Segment {
	var out []policy.Segment
	for i := range d.lines {
		if i > 0 {
			out = d.feed(out, d.lines[i].from, d.lines[i].segs == nil && d.lines[i].no > 0)
		}
		for _, s := range d.lines[i].segments() {
			out = join(out, s)
		}
	}
	return out
}

// feed ends a line. It uses the line ending of the result if the next line follows
// directly in the result, and otherwise a literal line feed.
func (d *draft) feed(out []policy.Segment, next int, plain bool) []policy.Segment {
	if last := len(out) - 1; plain && last >= 0 && out[last].Lit == "" {
		if gap := d.text[min(out[last].To, next):next]; gap == "\n" || gap == "\r\n" {
			return join(out, policy.Segment{From: out[last].To, To: next})
		}
	}
	return join(out, policy.Segment{Lit: "\n"})
}

func join(out []policy.Segment, s policy.Segment) []policy.Segment {
	last := len(out) - 1
	switch {
	case s.Lit == "" && s.From == s.To:
		return out
	case last >= 0 && s.Lit != "" && out[last].Lit != "":
		out[last].Lit += s.Lit
		return out
	case last >= 0 && s.Lit == "" && out[last].Lit == "" && out[last].To == s.From:
		out[last].To = s.To
		return out
	}
	return append(out, s)
}

// render returns the text that segments describe: ranges of text, and literals.
func render(text string, segs []policy.Segment) string {
	if len(segs) == 1 && segs[0].Lit == "" {
		return text[segs[0].From:segs[0].To]
	}
	n := 0
	for i := range segs {
		n += len(segs[i].Lit) + segs[i].To - segs[i].From
	}
	var b strings.Builder
	b.Grow(n)
	for _, s := range segs {
		if s.Lit != "" {
			b.WriteString(s.Lit)
		} else {
			b.WriteString(text[s.From:s.To])
		}
	}
	return b.String()
}
