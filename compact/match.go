package compact

import (
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"time"
)

// What looking for a pattern may cost. A pattern of ten bytes (".{0,999}x") takes
// a second for 64 KB of one line, and nothing can stop it meanwhile: so lines are
// looked at in pieces, and the time is looked at between two.
const (
	matchPiece   = 4 << 10 // bytes of a line that are looked at at once
	matchOverlap = 1 << 10 // that two pieces have in common: a longer match may be missed where they meet
	matchTime    = 10 * time.Second
)

// errLongMatch says that a pattern took longer than it may.
var errLongMatch = errors.New("the pattern takes too long")

// matcher looks for a pattern while its context lasts.
type matcher struct {
	ctx     context.Context
	pattern *regexp.Regexp
	edges   bool // it looks at where a line or a word ends
}

func newMatcher(ctx context.Context, pattern *regexp.Regexp) matcher {
	m := matcher{ctx: ctx, pattern: pattern, edges: true}
	if parsed, err := syntax.Parse(pattern.String(), syntax.Perl); err == nil {
		m.edges = looksAtEdges(parsed)
	}
	return m
}

func looksAtEdges(r *syntax.Regexp) bool {
	return syntax.OpBeginLine <= r.Op && r.Op <= syntax.OpNoWordBoundary || slices.ContainsFunc(r.Sub, looksAtEdges)
}

// withMatchTime bounds the time for a pattern; the cause of its end is
// errLongMatch then.
func withMatchTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, matchTime, errLongMatch)
}

// find returns where a line matches first, nil where it does not. The error is
// why the context has ended.
func (m matcher) find(line string) ([]int, error) {
	for from := 0; ; {
		if m.ctx.Err() != nil {
			return nil, context.Cause(m.ctx)
		}
		if len(line)-from <= matchPiece {
			return m.in(line, from, len(line)), nil
		}
		to := from + prefix(line[from:], matchPiece)
		if at := m.in(line, from, to); at != nil {
			return at, nil
		}
		from += prefix(line[from:], matchPiece-matchOverlap)
	}
}

// in looks at a piece of a line. What is found where the piece was cut may be an
// edge that the cut has made; a real one lies within the piece before or behind.
func (m matcher) in(line string, from, to int) []int {
	for _, at := range m.pattern.FindAllStringIndex(line[from:to], 3) {
		if m.edges && (from > 0 && at[0] == 0 || to < len(line) && at[1] == to-from) {
			continue
		}
		return []int{from + at[0], from + at[1]}
	}
	return nil
}
