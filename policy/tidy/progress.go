package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// progress leaves of a line that was written over again and again what stood
// there last.
func progress(d *draft, _ *Result, _ int) verdict {
	if strings.IndexByte(d.text, '\r') < 0 {
		return pass
	}
	changed := false
	for i := range d.lines {
		l := &d.lines[i]
		if strings.IndexByte(l.text, '\r') < 0 {
			continue
		}
		segs := l.segments()
		last, text := lastWritten(d.text, segs)
		if text != "" && len(text) < len(l.text) {
			l.segs, l.text, changed = last, text, true
		}
	}
	return done(changed)
}

// lastWritten returns the pieces behind the last carriage return that something
// follows.
func lastWritten(text string, segs []policy.Segment) (out []policy.Segment, shown string) {
	whole := strings.TrimRight(render(text, segs), "\r")
	skip := strings.LastIndexByte(whole, '\r') + 1
	shown = whole[skip:]
	left := len(shown)
	for _, s := range segs {
		n := s.To - s.From
		if cut := min(skip, n); cut > 0 {
			s.From, skip = s.From+cut, skip-cut
		}
		if n = min(s.To-s.From, left); n > 0 {
			out = append(out, policy.Segment{From: s.From, To: s.From + n})
			left -= n
		}
	}
	return out, shown
}
