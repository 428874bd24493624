// Package excerpt finds and cuts lines of a text: it finds lines that match a pattern,
// in bounded time, and keeps as many lines as fit into a number of bytes.
package excerpt

import (
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"time"
)

// Limits of a pattern search. A pattern of ten bytes (".{0,999}x") takes a second
// for a line of 64 KB, and a match can't be interrupted. So lines are searched in
// pieces, and the deadline is checked between two pieces.
const (
	matchPiece   = 4 << 10 // bytes of a line that are searched at once
	matchOverlap = 1 << 10 // overlap of two pieces; a longer match can be missed at their boundary
	MatchTime    = 10 * time.Second
)

// ErrLongMatch means that the search for a pattern took too long.
var ErrLongMatch = errors.New("the pattern takes too long")

// A Matcher searches lines for a pattern until its context is done.
type Matcher struct {
	ctx     context.Context
	pattern *regexp.Regexp
	edges   bool // the pattern depends on the edges of lines or words
}

// NewMatcher returns a Matcher for a pattern. It searches until ctx is done.
func NewMatcher(ctx context.Context, pattern *regexp.Regexp) Matcher {
	m := Matcher{ctx: ctx, pattern: pattern, edges: true}
	if parsed, err := syntax.Parse(pattern.String(), syntax.Perl); err == nil {
		m.edges = looksAtEdges(parsed)
	}
	return m
}

func looksAtEdges(r *syntax.Regexp) bool {
	return syntax.OpBeginLine <= r.Op && r.Op <= syntax.OpNoWordBoundary || slices.ContainsFunc(r.Sub, looksAtEdges)
}

// WithMatchTime returns a context with the time limit of a pattern; its cause is
// ErrLongMatch.
func WithMatchTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, MatchTime, ErrLongMatch)
}

// Find returns the first match in a line, nil if there is none. It returns an
// error if the context is done.
func (m Matcher) Find(line string) ([]int, error) {
	for from := 0; ; {
		if m.ctx.Err() != nil {
			return nil, context.Cause(m.ctx)
		}
		if len(line)-from <= matchPiece {
			return m.in(line, from, len(line)), nil
		}
		to := from + Prefix(line[from:], matchPiece)
		if at := m.in(line, from, to); at != nil {
			return at, nil
		}
		from += Prefix(line[from:], matchPiece-matchOverlap)
	}
}

// in searches a piece of a line. If the pattern depends on edges, it skips a
// match at a cut, because a cut is not a real edge. The neighboring piece
// contains a real match at that place.
func (m Matcher) in(line string, from, to int) []int {
	for _, at := range m.pattern.FindAllStringIndex(line[from:to], 3) {
		if m.edges && (from > 0 && at[0] == 0 || to < len(line) && at[1] == to-from) {
			continue
		}
		return []int{from + at[0], from + at[1]}
	}
	return nil
}
