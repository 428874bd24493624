package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// colors removes escape sequences, which a terminal does not show: colors, cursor
// movements, titles.
func colors(d *draft, _ *Result, _ int) verdict {
	if !strings.ContainsRune(d.text, '\x1b') {
		return pass
	}
	changed, p := false, pieces{lent: d.lent}
	for i := range d.lines {
		l := &d.lines[i]
		if strings.IndexByte(l.text, '\x1b') < 0 {
			continue
		}
		segs, text := uncolored(&p, d.text, l.from, l.to)
		if len(text) < len(l.text) {
			l.segs, l.text, changed = segs, text, true
		}
	}
	return done(changed)
}

// uncolored returns the pieces of text[from:to] between escape sequences.
func uncolored(p *pieces, text string, from, to int) (segs []policy.Segment, shown string) {
	p.begin()
	for at := from; at < to; {
		end := strings.IndexByte(text[at:to], '\x1b')
		if end < 0 {
			end = to
		} else {
			end += at
		}
		if end > at {
			p.add(text, policy.Segment{From: at, To: end})
		}
		at = end
		if at < to {
			at += max(escape(text[at:to]), 1) // a bare escape
		}
	}
	return p.end()
}

// escape returns the length of the escape sequence at the start of s: ESC [ …
// final byte, ESC ] … BEL or ESC \, or ESC and one more byte.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x3f { // not a sequence
				return 2
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == '\x1b' { // ends the sequence, before any character
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
				return 1
			}
		}
		return 1
	}
	if s[1] >= 0x80 {
		return 1
	}
	return 2
}
