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
		Short: "Find the cheapest settings that keep the text that your sessions need",
		Long: `Tune replays recorded sessions under many settings of the preset graduated. It writes a
configuration file with the cheapest settings that keep at least --keep of what the
recorded answers needed in view. Comments in the file say what to expect and how certain
that is. The search is seeded. It is cross-validated by project: each project is judged by
settings that were chosen without it. A project is the name of a file up to its last dash,
or its folder.

Tune calls no model and stores nothing. Twelve sessions of 100,000 tokens take some
minutes. Ctrl-C ends the search and writes the best settings so far, marked as
unfinished.`,
		Example: `  compactctl tune sessions/ --keep 0.9 --window 200000 --out compact.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("tune needs at least one PATH: a file, a folder or a pattern")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return t.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.Float64Var(&t.o.Keep, "keep", 0.9, "the least `SHARE` of needed identifiers that must be in view")
	tokens(f, &t.o.Window, "window", 200_000, "the model's window, in `TOKENS`")
	f.StringVar(&t.prices, "prices", "claude-sonnet-4-5", "`MODEL` whose list prices apply, or a JSON FILE with a price card")
	f.DurationVar(&t.o.Gap, "gap", 20*time.Second, "`TIME` between two calls")
	f.StringVar(&t.o.Model, "model", "gpt-4o", "`NAME` of the model whose tokenizer counts the tokens")
	f.IntVar(&t.o.Evaluations, "evaluations", replay.MostEvaluations, fmt.Sprintf("try `N` settings over all folds, 1-%d", replay.MostEvaluations))
	f.IntVar(&t.o.Folds, "folds", 4, "divide the projects into `N` parts for cross-validation; 1: no validation")
	f.Uint64Var(&t.o.Seed, "seed", 1, "`N`: the seed of the search")
	addLeast(f, &t.least)
	f.StringVar(&t.out, "out", "", "write the settings to `FILE` (default: standard output)")
	f.StringVar(&a.input.format, "format", "auto", "`NAME` of the format of the files: auto, "+strings.Join(formats.Names(), ", "))
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
	to, err := t.openOutput(t.out)
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
		err = fmt.Errorf("unfinished: %s; the best settings so far were written (%w)", found.Cut, err)
	}
	return errors.Join(t.deliver(found, text, to), err, unread(bad))
}

// none explains why there are no sessions.
func (t *tuning) none(files int, bad error) error {
	if bad == nil && t.least != (replay.AtLeast{}) {
		return tooShort(t.least, files)
	}
	return errors.New("no session can be used for tuning")
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
		t.complain("compactctl", fmt.Sprintf("none of the tried settings keeps %.4g %% in view; the closest settings were written", 100*t.o.Keep))
	}
	if to != nil {
		return to.commit([]byte(text))
	}
	_, err := t.app.out.Write([]byte(text))
	return err
}
