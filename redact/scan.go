package redact

import "sync"

// scan is one pass over one text.
type scan struct {
	r       *Redactor
	s       string
	found   []span
	nameEnd int // end of the name that assign looked at last

	manifestEnd int    // end of the manifest that was read last
	seen        [8]int // by view: how far it was read
	headEnd     int    // end of the line that was read last as the head of a table
	encodedEnd  int    // how far base64 was read
	level       int    // how many views this text is inside of
	budget      int    // bytes that rules may still look at
	given       int    // where the budget was used up
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
	sc.s, sc.found, sc.nameEnd, sc.manifestEnd, sc.encodedEnd, sc.headEnd = s, sc.found[:0], 0, 0, 0, 0
	clear(sc.seen[:])
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

// settle sorts the findings, joins those that overlap and takes placeholders
// that were there before out of them.
func (sc *scan) settle() []span {
	if len(sc.found) == 0 {
		return nil
	}
	sc.found = withoutPlaceholders(sc.s, join(sc.found))
	return sc.found
}
