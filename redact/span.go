package redact

import (
	"cmp"
	"slices"
)

// rule is what a finding is named after.
type rule struct {
	id   string // as Find reports it
	kind string // as it stands in a pseudonym
	rank rank   // where two rules find the same, the higher one names it
	weak bool   // the name before the value says little: see weak
}

// rank orders rules by how well they know what they have found.
type rank uint8

const (
	byName  rank = iota // the name before a value
	byData              // a vendor's rule
	byShape             // its own form
)

// span is a secret found: s[start:end].
type span struct {
	start, end int
	rule       *rule
	secret     string // decoded; empty while it is just what stands there
	stand      string // the placeholder, where the secret itself is not known any more
	quote      string // to be written around the placeholder, where a number stood
}

// in completes a span of s with what stands there.
func (f span) in(s string) span {
	if f.secret == "" {
		f.secret = s[f.start:f.end]
	}
	return f
}

// join sorts spans and joins those that overlap, in place. The rule that knows
// best what it has found names the whole.
func join(spans []span) []span {
	if !slices.IsSortedFunc(spans, compareSpans) {
		slices.SortStableFunc(spans, compareSpans)
	}
	joined := spans[:0]
	for _, f := range spans {
		if n := len(joined); n > 0 && f.start < joined[n-1].end {
			joined[n-1].take(f)
			continue
		}
		joined = append(joined, f)
	}
	return joined
}

// take joins f, which begins inside of s.
func (s *span) take(f span) {
	if f.end > s.end {
		s.end, s.quote = f.end, ""
	}
	if f.rule.rank > s.rule.rank || s.rule.weak && !f.rule.weak {
		s.rule = f.rule
	}
}

func compareSpans(a, b span) int {
	return cmp.Or(a.start-b.start, b.end-a.end, int(b.rule.rank)-int(a.rule.rank))
}
