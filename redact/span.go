package redact

import (
	"cmp"
	"slices"
)

// rule names a finding.
type rule struct {
	id   string // reported by Find
	kind string // part of a pseudonym
	rank rank   // if two findings overlap, the rule with the higher rank names the result
	weak bool   // found only by a name of strength weak
}

// rank orders rules by how precisely they identify a secret.
type rank uint8

const (
	byName  rank = iota // by the name before a value
	byData              // a vendor's rule
	byShape             // by the form of the value
)

// span is a secret that was found: s[start:end].
type span struct {
	start, end int
	rule       *rule
	secret     string // decoded; empty as long as it equals s[start:end]
	stand      string // the placeholder, if the secret itself is no longer known
	quote      string // written around the placeholder of a number
}

// in returns f with its secret, taken from s if it is not set.
func (f span) in(s string) span {
	if f.secret == "" {
		f.secret = s[f.start:f.end]
	}
	return f
}

// join sorts spans and joins overlapping spans, in place. The rule of the highest rank
// names the result.
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

// take merges f, which begins inside of s, into s. The rule of the higher rank names the
// result. A rule that is not weak also replaces a weak one.
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
