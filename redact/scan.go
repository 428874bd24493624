package redact

import "sync"

// scan is one pass over one text.
type scan struct {
	r       *Redactor
	s       string
	found   []span
	nameEnd int // end of the last name that assign read

	manifestEnd int    // end of the last manifest that was read
	seen        [8]int // by view: end of the last range that was read
	headEnd     int    // end of the last line that was read as the head of a table
	encodedEnd  int    // end of the last base64 that was read
	dumpEnd     int    // end of the last dump that was read
	markupEnd   int    // end of the last table in HTML that was read
	level       int    // number of views in which this text is nested
	budget      int    // number of bytes that rules may still read
	given       int    // position at which the budget was used up, -1 if it was not

	schema schema // the last table of SQL

	denseFrom, dense int  // the last search of denseNear, and where it ended
	denseFound       bool // it ended at a run
	ratings          ratings
	rated            bool // ratings has names
}

var scans = sync.Pool{New: func() any { return new(scan) }}

// release returns sc to the pool. It must not be used afterwards.
func (sc *scan) release() {
	sc.r, sc.s, sc.schema = nil, "", schema{}
	if sc.rated {
		sc.ratings, sc.rated = ratings{}, false
	}
	clear(sc.found)
	scans.Put(sc)
}

func (sc *scan) add(start, end int, r *rule) {
	if start < end {
		sc.found = append(sc.found, span{start: start, end: end, rule: r})
	}
}

// lookAgain is the maximum number of times that rules may read a byte, on
// average. Ordinary text needs less than one. If a crafted text exceeds the
// limit and would take too long, it is treated as a secret from there on.
const lookAgain = 64

var unscannedRule = &rule{id: "unscanned", kind: "unscanned"}

// spend subtracts the bytes that a rule has read from the budget.
func (sc *scan) spend(n int) { sc.budget -= n }

// find returns the secrets of s in order, without overlaps. The slice belongs
// to sc.
func (sc *scan) find(s string) []span {
	sc.schema = schema{}
	sc.s, sc.found, sc.nameEnd, sc.manifestEnd, sc.encodedEnd, sc.headEnd, sc.dumpEnd, sc.markupEnd = s, sc.found[:0], 0, 0, 0, 0, 0, 0
	clear(sc.seen[:])
	sc.denseFrom, sc.dense, sc.denseFound = 0, -1, false
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
	if sc.given < 0 {
		sc.longRuns()
	}
	if sc.r.opts.PII {
		sc.personalNumbers()
	}
	sc.r.matchPatterns(sc)
	sc.r.detect(sc)
	return sc.settle()
}

// settle sorts the findings, joins overlapping findings, and cuts existing placeholders
// out of them.
func (sc *scan) settle() []span {
	if len(sc.found) == 0 {
		return nil
	}
	sc.found = withoutPlaceholders(sc.s, join(sc.found))
	return sc.found
}
