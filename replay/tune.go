package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/agentcompact/compact/price"
)

// TuneOptions say what is looked for, and how.
type TuneOptions struct {
	Keep        float64       // the least share of needed identifiers that the views hold; default 0.9
	Window      int           // tokens; default 200,000
	Model       string        // whose tokens are counted; default "gpt-4o"
	Card        price.Card    // what calls cost; default that of Model
	Gap         time.Duration // between two calls
	Evaluations int           // settings that are tried, over all folds; default and most 200
	Folds       int           // default 4; never more than there are projects
	Seed        uint64
	Workers     int // sessions at once; default one a core

	// Progress is told how many replays of one session under one setting are done,
	// and how many it may come to, from one goroutine at a time.
	Progress func(done, most int)
}

// MostEvaluations is the maximum number of settings that one search tries.
const MostEvaluations = 200

// A Tuning is what a search found. The figures of Chosen are of the very sessions
// that it was chosen by, and flatter it; those of Expected are of sessions that
// the choice had not seen, fold by fold.
type Tuning struct {
	Options   TuneOptions
	Sessions  int
	Projects  int
	Tried     int // settings
	Chosen    Figures
	Default   Figures // of the preset graduated on the same sessions
	Expected  Figures // cross-validated by project; zero where there is one project, or it was interrupted
	Folds     int     // of it; 0 = none
	Met       bool    // Chosen keeps what was asked for
	TooFew    []string
	Cut       string // why the search did not end; "" = it did
	best      candidate
	cardNamed string
}

// Tune looks for the cheapest settings whose views hold at least o.Keep of what
// is needed, by a seeded search: settings drawn at random, of which the worse half
// goes after a third of the sessions and again after two thirds, then neighbors
// of the best. Sessions are parsed, counted and read for identifiers once. It is
// cross-validated by project: for each fold the search is made anew without its
// sessions, which then judge the choice. The same sessions and seed give the same
// result.
//
// When ctx ends, Tune returns the best that it has found, with the context's
// error; what it found is nil where that is before the preset itself was replayed.
func Tune(ctx context.Context, sessions []*Session, o TuneOptions) (*Tuning, error) {
	t, err := newTuner(ctx, sessions, &o)
	if err != nil {
		return nil, err
	}
	all := inTurn(sessions)
	preset, err := t.rows(ctx, candidate{}, all)
	if err != nil {
		return nil, err
	}
	projects, folds := foldsOf(sessions, o.Folds)
	out := &Tuning{Options: o, Sessions: len(sessions), Projects: projects, Default: figures(preset, preset), cardNamed: (&Report{Card: o.Card}).cardName()}
	t.share(max(folds.count, 1))
	err = out.choose(ctx, t, all)
	if err == nil && folds.count > 1 {
		err = out.validate(ctx, t, folds, all)
	}
	out.Tried = len(t.tried)
	out.doubt()
	switch {
	case isEnded(err):
		out.Cut = fmt.Sprintf("interrupted after %d of at most %d settings", out.Tried, o.Evaluations)
	case err != nil:
		return nil, err
	}
	return out, err
}

// choose searches on all sessions.
func (t *Tuning) choose(ctx context.Context, tu *tuner, all []int) error {
	best, err := tu.search(ctx, all, 0)
	if err != nil && !isEnded(err) {
		return err
	}
	rows, _ := tu.stored(best, all) // the search has replayed them all
	preset, _ := tu.stored(candidate{}, all)
	t.best, t.Chosen = best, figures(rows, preset)
	t.Met = t.Chosen.Held.Value >= t.Options.Keep && t.Chosen.Over == 0
	return err
}

// validate searches without the sessions of each fold, and judges by these.
func (t *Tuning) validate(ctx context.Context, tu *tuner, folds folds, all []int) error {
	var unseen, preset []tuneRow
	for f := range folds.count {
		best, err := tu.search(ctx, folds.without(f, all), uint64(f)+1)
		if err != nil {
			return err
		}
		rows, err := tu.rows(ctx, best, folds.of(f, all))
		if err != nil {
			return err
		}
		beside, _ := tu.stored(candidate{}, folds.of(f, all))
		unseen, preset = append(unseen, rows...), append(preset, beside...)
	}
	t.Expected, t.Folds = figures(unseen, preset), folds.count
	return nil
}
