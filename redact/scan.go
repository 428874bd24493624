package redact

import (
	"cmp"
	"slices"
	"sync"
)

// rule is what a finding is named after.
type rule struct {
	id   string // as Find reports it
	kind string // as it stands in a pseudonym
	rank rank   // where two rules find the same, the higher one names it
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
	secret     string // where that is not what stands there but encodes it
}

// scan is one pass over one text.
type scan struct {
	r       *Redactor
	s       string
	found   []span
	nameEnd int // end of the name that assign looked at last

	manifestEnd int // end of the manifest that was read last
	budget      int // bytes that rules may still look at
	given       int // where the budget was used up
}

var scans = sync.Pool{New: func() any { return new(scan) }}

// release gives sc back. It must not be used afterwards.
func (sc *scan) release() {
	sc.r, sc.s = nil, ""
	clear(sc.found)
	scans.Put(sc)
}

func (sc *scan) add(start, end int, r *rule) {
	if start < end {
		sc.found = append(sc.found, span{start: start, end: end, rule: r})
	}
}

// lookAgain is how often, on average, rules may look at a byte. Ordinary text
// needs less than one look. A text that is made to need more, so that reading
// it would take forever, is taken for a secret from there on.
const lookAgain = 64

var unscannedRule = &rule{id: "unscanned", kind: "unscanned"}

// spend takes the bytes that a rule has looked at from the budget.
func (sc *scan) spend(n int) { sc.budget -= n }

// find returns the secrets of s in order, without overlaps. The slice belongs
// to sc.
func (sc *scan) find(s string) []span {
	sc.s, sc.found, sc.nameEnd, sc.manifestEnd = s, sc.found[:0], 0, 0
	sc.budget, sc.given = lookAgain*len(s)+1<<20, -1
	words := sc.r.words
	words.automaton.scan(s, func(w uint16, end int) {
		start := end - words.automaton.length[w]
		for _, act := range words.acts[w] {
			if sc.given >= 0 {
				return
			}
			act(sc, start, end)
			if sc.budget < 0 {
				sc.given = start
			}
		}
	})
	if sc.given >= 0 {
		sc.add(sc.given, len(s), unscannedRule)
	}
	if sc.r.opts.PII {
		sc.personalNumbers()
	}
	sc.r.matchPatterns(sc)
	return sc.settle()
}

// settle sorts the findings, joins those that overlap and takes placeholders
// that were there before out of them.
func (sc *scan) settle() []span {
	if len(sc.found) == 0 {
		return nil
	}
	slices.SortStableFunc(sc.found, func(a, b span) int {
		return cmp.Or(a.start-b.start, b.end-a.end, int(b.rule.rank)-int(a.rule.rank))
	})
	joined := sc.found[:1]
	for _, f := range sc.found[1:] {
		last := &joined[len(joined)-1]
		if f.start < last.end {
			last.end = max(last.end, f.end)
			if f.rule.rank > last.rule.rank {
				last.rule = f.rule
			}
			continue
		}
		joined = append(joined, f)
	}
	sc.found = withoutPlaceholders(sc.s, joined)
	return sc.found
}
