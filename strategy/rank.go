package strategy

import (
	"math"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Features of an identifier for the ranking. Counts and distances are ln(1+n), because
// the first mention says more than the tenth.
const (
	bias     = iota
	told     // messages of the user that name it, in addition to total
	said     // texts of the assistant that name it
	shown    // results that name it
	total    // occurrences in all texts
	task     // 1 if the user's first message names it
	never    // 1 if the assistant never used it
	since    // messages since it last appeared
	company  // identifiers, this one included, in the text that names it and has the fewest identifiers
	changed  // 1 for a file that was created, edited or deleted, and for a name that a change declares
	previous // 1 if the previous summary names it first in a line, less for later positions
	length   // in bytes
	single   // 1 if the identifier occurs once
	words    // 1 for a path that may be alternative words: either/or
	folder   // 1 for a path that ends in a slash
	named    // 1 for a file name at the end of a path that the assistant uses
	dots     // number of dots in a member, without a logarithm
	kind     // 1 for its kind; one feature per kind
	features = kind + ident.Kinds
)

// weights come from a logistic regression on recorded sessions. The regression predicts
// whether an identifier that left the view was used later without being shown again,
// under several definitions of an identifier. TestRankingCanBeFittedAgain repeats the fit
// and measures it on sources that were held out. The weight of previous is set by hand,
// because no recorded session has a previous summary.
var weights = [features]float64{
	bias: -0.88,
	told: -0.67, said: 0.07, shown: -0.97, total: 0.55, task: 1.03,
	never: -0.76, since: -0.34, company: -0.38, changed: 0.34, previous: 1.5, length: 0.08,
	single: -0.46, words: -0.17, folder: -0.91, named: 0.66, dots: -0.33,

	kind + int(ident.URL):     -0.54,
	kind + int(ident.Path):    0.42,
	kind + int(ident.File):    0.63,
	kind + int(ident.Hex):     -0.32,
	kind + int(ident.Ticket):  0.02,
	kind + int(ident.Number):  0.27,
	kind + int(ident.Version): -1.25,
	kind + int(ident.Camel):   0.36,
	kind + int(ident.Pascal):  0.20,
	kind + int(ident.Snake):   0.42,
	kind + int(ident.Code):    -0.48,
	kind + int(ident.Email):   -0.22,
	kind + int(ident.Member):  -0.41,
}

// visibleShare scales the score of an identifier that the view already names.
const visibleShare = 0.1

// features returns the features of an identifier.
func (x *nameIndex) features(e *entity) (f [features]float64) {
	f[bias] = 1
	f[told] = math.Log1p(float64(e.Count[textTold]))
	f[said] = math.Log1p(float64(e.Count[textSaid]))
	f[shown] = math.Log1p(float64(e.Count[textShown]))
	f[total] = math.Log1p(float64(e.Total))
	f[task] = flag(e.Task)
	f[never] = flag(e.LastUsed == 0)
	f[since] = math.Log1p(float64(x.last - e.Last))
	f[company] = math.Log1p(float64(e.Company))
	f[changed] = flag(e.Changed)
	if e.Place > 0 {
		f[previous] = math.Exp(-float64(e.Place-1) / 25)
	}
	f[length] = math.Log1p(float64(len(e.Text)))
	f[single] = flag(e.Total == 1)
	switch e.Kind {
	case ident.Path:
		f[words] = flag(choice(e.Text))
		f[folder] = flag(strings.HasSuffix(e.Text, "/"))
	case ident.File:
		f[named] = flag(x.bases[e.Text])
	case ident.Member:
		f[dots] = float64(strings.Count(e.Text, "."))
	}
	f[kind+int(e.Kind)] = 1
	return f
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// choice reports whether a path may be alternative words, as in either/or: it
// has only letters and slashes, and no leading slash.
func choice(path string) bool {
	return !strings.HasPrefix(path, "/") && strings.IndexFunc(path, func(r rune) bool { return r != '/' && !prose.IsLetter(r) }) < 0
}

// score returns the probability, 0 to 1, that an identifier is needed again. A visible
// identifier gets only the share visibleShare of the value.
func (x *nameIndex) score(e *entity) float64 {
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
