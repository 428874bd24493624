package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// progress reduces a line that was overwritten several times to its last state.
func progress(d *draft, _ *Result, _ int) verdict {
	if strings.IndexByte(d.text, '\r') < 0 {
		return pass
	}
	changed, p := false, pieces{lent: d.lent}
	for i := range d.lines {
		l := &d.lines[i]
		if strings.IndexByte(l.text, '\r') < 0 {
			continue
		}
		segs, text := lastWritten(&p, d.text, l)
		if text != "" && len(text) < len(l.text) {
			l.segs, l.text, changed = segs, text, true
		}
	}
	return done(changed)
}

// lastWritten returns the pieces after the last carriage return that has text after it.
// All pieces are ranges of the result.
func lastWritten(p *pieces, text string, l *line) (out []policy.Segment, shown string) {
	shown = strings.TrimRight(l.text, "\r")
	skip := strings.LastIndexByte(shown, '\r') + 1
	shown = shown[skip:]
	p.begin()
	if l.segs == nil {
		if shown != "" {
			p.add(text, policy.Segment{From: l.from + skip, To: l.from + skip + len(shown)})
		}
	} else {
		for _, s := range l.piece(skip, skip+len(shown)) {
			p.add(text, s)
		}
	}
	return p.end()
}
