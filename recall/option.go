package recall

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/agentcompact/compact/internal/excerpt"
)

// An Option selects lines of a text; without one the whole text is returned. Several
// options apply in order, each to the result of the previous one.
type Option func(lines []string) []string

// Head returns the first n lines.
func Head(n int) Option {
	return func(lines []string) []string { return lines[:min(max(n, 0), len(lines))] }
}

// Tail returns the last n lines.
func Tail(n int) Option {
	return func(lines []string) []string { return lines[len(lines)-min(max(n, 0), len(lines)):] }
}

// Lines returns lines first to last, counted from 1, inclusive.
func Lines(first, last int) Option {
	return func(lines []string) []string {
		from := min(max(first-1, 0), len(lines))
		return lines[from:max(from, min(last, len(lines)))]
	}
}

// Matching returns the matching lines, each with around lines of context on both sides.
// The search stops after ten seconds; the last line then reports that.
func Matching(pattern *regexp.Regexp, around int) Option {
	return func(lines []string) []string {
		ctx, cancel := excerpt.WithMatchTime(context.Background())
		defer cancel()
		at, err := excerpt.Matching(excerpt.NewMatcher(ctx, pattern), lines, around)
		var out []string
		for _, l := range at {
			out = append(out, lines[l.At])
		}
		if err != nil {
			out = append(out, "["+err.Error()+": the lines after it were not searched]")
		}
		return out
	}
}

// AtMost returns the first lines with at most a given number of bytes in total, line
// feeds included, and then a line that states the size of the omitted rest. A first
// line above the limit is cut between two characters.
func AtMost(bytes int) Option {
	return func(lines []string) []string {
		kept, left := excerpt.Fitting(lines, bytes)
		if left == 0 {
			return lines
		}
		return append(kept, fmt.Sprintf("[%d of %d lines follow, %d bytes are left out]", len(lines)-len(kept), len(lines), left))
	}
}

func choose(text string, opts []Option) string {
	if len(opts) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for _, o := range opts {
		lines = o(lines)
	}
	return strings.Join(lines, "\n")
}
