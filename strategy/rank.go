package strategy

import (
	"math"

	"github.com/agentcompact/compact/strategy/internal/ident"
)

// What the ranking knows of an identifier. Counts and distances are taken as
// ln(1+n): the first mention says more than the tenth.
const (
	bias     = iota
	told     // messages of the user that have it, beside total
	said     // texts of the assistant
	thought  // reasoning
	asked    // arguments of calls
	shown    // results
	total    // occurrences, wherever
	task     // 1 when the user's first message has it
	never    // 1 when the assistant never used it
	since    // messages since it last appeared
	company  // identifiers beside it, where they are fewest
	changed  // 1 for a file that was created, edited or deleted, and for what a change declares
	previous // 1 when the summary before names it first, less the later it comes there
	length   // in bytes
	spread   // messages between its first appearance and its last
	kind     // 1 for its kind, one feature each
	features = kind + ident.Kinds
)

// weights are those of a logistic regression on recorded sessions: whether an
// identifier that left the view was used later without being shown again.
// TestRankingCanBeFittedAgain fits them again; previous is set by
// hand, since no session of the recordings has a summary before it, and so are
// tickets and versions, which are too rare in them.
var weights = [features]float64{
	bias: -1.64,
	told: -0.94, said: 0.18, thought: 0.10, asked: 0.09, shown: -1.17, total: 0.70, task: 1.22,
	never: -0.64, since: -0.36, company: -0.38, changed: 0.26, previous: 1.5, length: 0.28, spread: 0.13,

	kind + int(ident.URL):     -1.69,
	kind + int(ident.Path):    -0.06,
	kind + int(ident.File):    0.65,
	kind + int(ident.Hex):     -0.80,
	kind + int(ident.Ticket):  0,
	kind + int(ident.Number):  0.20,
	kind + int(ident.Version): -1.5,
	kind + int(ident.Camel):   0.11,
	kind + int(ident.Pascal):  0.04,
	kind + int(ident.Snake):   0.23,
}

// visibleShare is what it is worth to name what the view names anyway.
const visibleShare = 0.1

// features describes an identifier to the ranking.
func (x *Index) features(e *Entity) (f [features]float64) {
	f[bias] = 1
	for w, n := range e.Count {
		f[told+w] = math.Log1p(float64(n))
	}
	f[total] = math.Log1p(float64(e.Total))
	if e.Task {
		f[task] = 1
	}
	if e.LastUsed == 0 {
		f[never] = 1
	}
	f[since] = math.Log1p(float64(x.last - e.Last))
	f[company] = math.Log1p(float64(e.Company))
	if e.Changed {
		f[changed] = 1
	}
	if e.Place > 0 {
		f[previous] = math.Exp(-float64(e.Place-1) / 25)
	}
	f[length] = math.Log1p(float64(len(e.Text)))
	f[spread] = math.Log1p(float64(e.Last - e.First))
	f[kind+int(e.Kind)] = 1
	return f
}

// score says how likely an identifier is needed again and not in view, between
// 0 and 1.
func (x *Index) score(e *Entity) float64 {
	z := 0.0
	for i, f := range x.features(e) {
		z += weights[i] * f
	}
	p := 1 / (1 + math.Exp(-z))
	if e.Visible {
		p *= visibleShare
	}
	return p
}
