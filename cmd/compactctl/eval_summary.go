package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/strategy/eval"
	"github.com/agentcompact/compact/token"
)

// evalSummary measures summaries of recorded sessions.
type evalSummary struct {
	*app
	model, reading, views string
	each, asCSV           bool
	windows               []int
}

func newEvalSummary(a *app) *cobra.Command {
	e := &evalSummary{app: a}
	cmd := &cobra.Command{
		Use:   "eval-summary FILE...",
		Short: "Measure how much summaries of recorded sessions keep",
		Long:  aboutEvalSummary,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("eval-summary needs at least one FILE")}
			}
			return nil
		},
		RunE: e.run,
	}
	cmd.Flags().StringVar(&e.model, "model", "gpt-4o", "`NAME` of the model whose tokenizer counts the tokens")
	cmd.Flags().BoolVarP(&e.each, "verbose", "v", false, "report each session separately")
	cmd.Flags().BoolVar(&e.asCSV, "csv", false, "print comma separated values, with counts instead of shares")
	cmd.Flags().StringVar(&e.reading, "reading", eval.ReadingLiteral, "`NAME` of the definition of an identifier: "+strings.Join(eval.Readings(), ", "))
	tokenList(cmd.Flags(), &e.windows, "window", nil, "measure only the window of `N` tokens; may be repeated (default 8000,32000,128000)")
	cmd.Flags().StringVar(&e.views, "views", "", "write the views that a successor would read to `DIR`, and measure nothing")
	return cmd
}

const aboutEvalSummary = `Eval-summary cuts each recorded session where it first exceeds 85 % of a window,
summarizes the messages that would be removed, and counts what the summary keeps of them:

  * the sentences that the user typed
  * the commands that failed
  * the outcomes that it states, and how many of them are false
  * the changed files, and files that it calls changed after a refused edit
  * the plan and the next step; with --csv and --json also next steps that
    were already done
  * the characters in lists of names
  * the identifiers that the rest of the session needs

It does so for every strategy. For comparison it also measures dropping, masking and a
bare list of identifiers.

With --views it counts nothing. It writes the views that a successor would read of each
whole session to a folder, for a test with readers. DIR/NAME/32k holds:

  ours.txt     the view after compact with the default configuration
  newest.txt   the newest messages verbatim, at the same size
  mask.txt     old tool results as placeholders and nothing else, at any size
  session.txt  the whole session, numbered
  recall.txt   the command that reads from DIR/archive what compact removed

A file has any format that compact reads, gzipped or not. The source of a file is the
part of its name before the first dash. If there are several sources, eval-summary
also reports each of them.`

func (e *evalSummary) run(cmd *cobra.Command, args []string) error {
	if !slices.Contains(eval.Readings(), e.reading) {
		return &usageError{fmt.Errorf("--reading must be one of %s (got %s)", strings.Join(eval.Readings(), ", "), e.reading)}
	}
	e.checkModel(e.model)
	sessions, err := readSessions(args)
	if err != nil {
		return err
	}
	counter, err := token.ForModel(e.model)
	if err != nil {
		return err
	}
	settings, err := settingsFor(e.windows)
	if err != nil {
		return err
	}
	if e.views != "" {
		v := &viewer{app: e.app, dir: e.views, model: e.model, counter: counter}
		return v.run(cmd.Context(), sessions, settings)
	}
	report, err := eval.Run(cmd.Context(), sessions, eval.Options{Count: counter.Count, Reading: e.reading, EachSession: e.each, Settings: settings})
	switch {
	case err != nil:
		return err
	case e.json:
		return e.printJSON(report)
	case e.asCSV:
		return report.WriteCSV(cmd.OutOrStdout())
	case e.quiet:
		return nil
	}
	return report.Write(cmd.OutOrStdout())
}

// settingsFor returns the settings for the named windows, or all settings if
// none is named.
func settingsFor(windows []int) ([]eval.Setting, error) {
	all := eval.Settings()
	if len(windows) == 0 {
		return all, nil
	}
	var out []eval.Setting
	for _, w := range windows {
		i := slices.IndexFunc(all, func(s eval.Setting) bool { return s.Window == w })
		if i < 0 {
			return nil, &usageError{fmt.Errorf("--window must be 8000, 32000 or 128000 (got %d)", w)}
		}
		out = append(out, all[i])
	}
	return out, nil
}

func readSessions(files []string) ([]eval.Session, error) {
	var sessions []eval.Session
	for _, file := range files {
		data, err := readGzipped(file)
		if err != nil {
			return nil, &inputError{file: file, err: err}
		}
		read, err := formats.Read("auto", data)
		if err != nil {
			return nil, unreadable(file, err)
		}
		if len(read.Messages()) == 0 {
			return nil, &inputError{file: file, err: errNoMessages}
		}
		name := filepath.Base(file)
		source, _, _ := strings.Cut(name, "-")
		sessions = append(sessions, eval.Session{Name: name, Source: source, Messages: read.Messages()})
	}
	return sessions, nil
}

func readGzipped(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if path := new(fs.PathError); errors.As(err, &path) {
		return nil, path.Err
	}
	if err != nil {
		return nil, err
	}
	return unzipped(data)
}
