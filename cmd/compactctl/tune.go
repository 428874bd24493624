package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/replay"
)

// tuning is a run of tune.
type tuning struct {
	*app
	o      replay.TuneOptions
	prices string
	out    string
	least  replay.AtLeast
}

func newTune(a *app) *cobra.Command {
	t := &tuning{app: a}
	cmd := &cobra.Command{
		Use:   "tune PATH...",
		Short: "Look for the cheapest settings that keep what your sessions need",
		Long: `Tune replays recorded sessions under many settings of the preset graduated, and
writes the cheapest that hold at least --keep of what the recorded answers needed in
view: a configuration file, with what is to be expected of it, and how sure that is,
in its comments. The search is seeded. It is cross-validated by project (the name of a
file up to its last dash, or its folder): each project is judged by settings that were
chosen without it.

Nothing is spent and nothing is stored. Twelve sessions of 100,000 tokens take some
minutes. Ctrl-C writes the best settings so far, and says that they are.`,
		Example: `  compactctl tune sessions/ --keep 0.9 --window 200000 --out compact.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("tune wants one PATH or more: a file, a folder or a pattern")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return t.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.Float64Var(&t.o.Keep, "keep", 0.9, "the `SHARE` of needed identifiers that is to be in view at least")
	tokens(f, &t.o.Window, "window", 200_000, "the model's window, in `TOKENS`")
	f.StringVar(&t.prices, "prices", "claude-sonnet-4-5", "`MODEL` whose list prices count, or a JSON FILE with a card")
	f.DurationVar(&t.o.Gap, "gap", 20*time.Second, "`TIME` between two calls")
	f.StringVar(&t.o.Model, "model", "gpt-4o", "`NAME` of the model in whose tokens is counted")
	f.IntVar(&t.o.Evaluations, "evaluations", replay.MostEvaluations, fmt.Sprintf("how many settings are tried, over all folds: `N` = 1-%d", replay.MostEvaluations))
	f.IntVar(&t.o.Folds, "folds", 4, "into how many parts the projects are dealt; `N` = 1 validates nothing")
	f.Uint64Var(&t.o.Seed, "seed", 1, "`N`: of the search")
	addLeast(f, &t.least)
	f.StringVar(&t.out, "out", "", "write the settings to `FILE` (default: standard output)")
	f.StringVar(&a.input.format, "format", "auto", "`NAME` of the form of the files: auto, "+strings.Join(formats.Names(), ", "))
	return cmd
}

func (t *tuning) check() (err error) {
	switch {
	case t.o.Keep <= 0 || t.o.Keep > 1:
		return &usageError{fmt.Errorf("--keep must be above 0 and at most 1 (got %v)", t.o.Keep)}
	case t.o.Window < 1:
		return &usageError{fmt.Errorf("--window must be above 0 (got %d)", t.o.Window)}
	case t.o.Evaluations < 1 || t.o.Evaluations > replay.MostEvaluations:
		return &usageError{fmt.Errorf("--evaluations must be 1-%d (got %d)", replay.MostEvaluations, t.o.Evaluations)}
	case t.o.Folds < 1:
		return &usageError{fmt.Errorf("--folds must be above 0 (got %d)", t.o.Folds)}
	case t.o.Gap < 0:
		return &usageError{fmt.Errorf("--gap must be a time of 0 or more (got %s)", t.o.Gap)}
	}
	t.o.Card, err = t.card(t.prices)
	return err
}

func (t *tuning) run(ctx context.Context, paths []string) error {
	if err := t.check(); err != nil {
		return err
	}
	t.checkModel(t.o.Model)
	from, n, err := t.recordedIn(paths, "tune")
	if err != nil {
		return err
	}
	to, err := t.prepared(t.out)
	if err != nil {
		return err
	}
	defer to.discard()
	t.progress.start("reading " + things(n, "session"))
	defer t.progress.stop()
	sessions, bad := replay.ReadAll(from, t.o.Model, t.least)
	if len(sessions) == 0 {
		return errors.Join(&inputError{file: "tune", err: t.none(n, bad)}, unread(bad))
	}
	t.progress.start("tuning on " + things(len(sessions), "session"))
	t.o.Progress = func(done, most int) { t.progress.at(int64(done), int64(most)) }
	found, err := replay.Tune(ctx, sessions, t.o)
	t.progress.stop()
	if found == nil {
		return err
	}
	text, errText := found.YAML()
	if errText != nil {
		return errText
	}
	if found.Cut != "" {
		err = fmt.Errorf("unfinished: %s; the best so far is written (%w)", found.Cut, err)
	}
	return errors.Join(t.deliver(found, text, to), err, unread(bad))
}

// none explains why there are no sessions.
func (t *tuning) none(files int, bad error) error {
	if bad == nil && t.least != (replay.AtLeast{}) {
		return tooShort(t.least, files)
	}
	return errors.New("there is no session to tune by")
}

// unread returns the error for files that could not be read, which sets the exit
// status.
func unread(bad error) error {
	if bad == nil {
		return nil
	}
	return &inputError{file: "not read", err: bad}
}

func (t *tuning) deliver(found *replay.Tuning, text string, to *target) error {
	for _, why := range found.TooFew {
		t.complain("compactctl", "too few sessions to tell: "+why)
	}
	if !found.Met {
		t.complain("compactctl", fmt.Sprintf("no settings that were tried keep %.4g %% in view; those that come closest are written", 100*t.o.Keep))
	}
	if to != nil {
		return to.commit([]byte(text))
	}
	_, err := t.app.out.Write([]byte(text))
	return err
}
