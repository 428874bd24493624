package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/agentcompact/compact/price"
)

// TuneOptions configure a search.
type TuneOptions struct {
	Keep        float64       // minimum share of the needed identifiers that the views must hold; default 0.9
	Window      int           // tokens; default 200,000
	Model       string        // model whose tokens are counted; default "gpt-4o"
	Card        price.Card    // prices; default: the prices of Model
	Gap         time.Duration // between two calls
	Evaluations int           // settings to try, over all folds; default and maximum 200
	Folds       int           // default 4; at most the number of projects
	Seed        uint64
	Workers     int // sessions at once; default one per core

	// Progress gets the number of finished replays of one session under one
	// setting, and an estimate of the total, from one goroutine at a time.
	Progress func(done, most int)
}

// MostEvaluations is the maximum number of settings that one call of [Tune] tries, over all folds.
const MostEvaluations = 200

// A Tuning is the result of a search. The figures of Chosen come from the sessions of
// the search, and are too good. The figures of Expected come from sessions that were
// not in the search, fold by fold.
type Tuning struct {
	Options   TuneOptions
	Sessions  int
	Projects  int
	Tried     int // settings
	Chosen    Figures
	Default   Figures // figures of the preset graduated, on the same sessions
	Expected  Figures // cross-validated by project; zero with one project, or after an interruption
	Folds     int     // of the cross-validation; 0 = none
	Met       bool    // Chosen keeps the share Options.Keep, and no call is above the window
	TooFew    []string
	Cut       string // reason for the interruption; "" = the search was not interrupted
	best      candidate
	cardNamed string
}

// Tune searches for the cheapest settings whose views hold at least the share o.Keep of the needed
// identifiers. The search is seeded: it draws settings at random, drops the worse half after a
// third of the sessions and again after two thirds, and then tries neighbors of the best. Tune
// parses and counts sessions, and reads their identifiers, only once. The result is cross-validated
// by project: for each fold the search is repeated without the fold's sessions, which then judge
// the choice. The same sessions and seed give the same result.
//
// When ctx ends, Tune returns the best settings so far, with the context's
// error. It returns nil if ctx ends before the preset was replayed.
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
	rows, _ := tu.stored(best, all) // the search has replayed all sessions
	preset, _ := tu.stored(candidate{}, all)
	t.best, t.Chosen = best, figures(rows, preset)
	t.Met = t.Chosen.Held.Value >= t.Options.Keep && t.Chosen.Over == 0
	return err
}

// validate searches without the sessions of each fold, and evaluates the choice
// on these sessions.
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
