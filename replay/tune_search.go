package replay

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// search returns the best of so many settings on some sessions: a fifth of them
// drawn at random, the preset's first, the others neighbors of the best so far,
// or, each third time, of one of the next best, so that it does not stay where
// no single step leads on.
func (t *tuner) search(ctx context.Context, sessions []int, evaluations int, fold uint64) (candidate, error) {
	rng := rand.New(rand.NewPCG(t.o.Seed, fold)) //nolint:gosec // a seed is the point
	var next candidate                           // the zero candidate is the preset
	var found []scored
	seen := map[candidate]bool{}
	for n := range evaluations {
		rows, err := t.rows(ctx, next, sessions)
		if err != nil {
			return candidate{}, err
		}
		seen[next] = true
		found = append(found, scored{next, t.score(rows)})
		slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
		for range 100 { // a neighbor may be known already
			from := found[0]
			if rng.IntN(3) == 0 {
				from = found[rng.IntN(min(len(found), 5))]
			}
			if next = from.near(rng); n < evaluations/5 {
				next = next.random(rng)
			}
			if !seen[next] {
				break
			}
		}
	}
	return found[0].candidate, nil
}

// scored is a candidate with its score, the lower the better.
type scored struct {
	candidate
	score float64
}

// score is what a search makes small: the cost, of raw, where what was asked for
// is kept and no call is above the window; else more than any cost, by how much
// is lacking.
func (t *tuner) score(rows []tuneRow) float64 {
	const dear = 1000
	var cost, raw, needed, held, over float64
	for _, r := range rows {
		cost, raw = cost+r.cost, raw+r.raw
		needed, held, over = needed+float64(r.needed), held+float64(r.held), over+float64(r.over)
	}
	s := cost / max(raw, 1e-12)
	if needed > 0 && held/needed < t.o.Keep {
		s += dear * (1 + t.o.Keep - held/needed)
	}
	if over > 0 {
		s += dear * (2 + over)
	}
	return s
}

// YAML writes the settings as a configuration file, with what is expected of them
// in its comments.
func (t *Tuning) YAML() (string, error) {
	body, err := t.best.yaml()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, "# "+format+"\n", args...) }
	say("Found by compactctl tune: the cheapest of %d settings that hold %.4g %% of what is needed in view.", t.Tried, 100*t.Options.Keep)
	say("%s of %d projects, window %s, tokens of %s, prices of %s, a call every %s, seed %d.",
		sessionsOf(t.Sessions), t.Projects, thousands(t.Options.Window), t.Options.Model, t.cardNamed, t.Options.Gap, t.Options.Seed)
	if !t.Met {
		say("None of them keeps that much: this one comes closest.")
	}
	if t.Folds > 0 {
		say("Expected, on projects that the choice has not seen (%d folds): %s.", t.Folds, t.Expected.words())
	}
	say("On the sessions that it was chosen by: %s.", t.Chosen.words())
	say("The preset graduated on them: %s.", t.Default.words())
	for _, why := range t.TooFew {
		say("Too few sessions to tell: %s.", why)
	}
	return b.String() + body, nil
}

func (f *Figures) words() string {
	s := fmt.Sprintf("costs %.1f %% of raw %s, %.1f %% of what was needed in view %s", 100*f.OfRaw.Value, f.OfRaw.Span(), 100*f.Held.Value, f.Held.Span())
	if f.Over > 0 {
		s += fmt.Sprintf(", %d calls above the window or refused", f.Over)
	}
	return s
}
