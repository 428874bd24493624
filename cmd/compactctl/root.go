package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "compactctl",
		Short: "Compact the transcripts of agents, and see what that does",
		Long: `Compactctl makes a conversation small enough for a model's window, least harm
first: it cuts one huge tool result, masks old ones, summarises the old part, and
only then gives anything up. What it takes out is archived first, redacted.

Exit status: 0 done; 1 failed; 2 usage or configuration; 3 bad input (file and
line are named); 4 the budget cannot be met; 5 the archive failed.`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          group,
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpColumns)))
	root.PersistentFlags().BoolVar(&a.json, "json", false, "JSON in place of a table")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no table and no progress")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.PersistentPreRun = func(*cobra.Command, []string) { a.progress.on = a.progress.on && !a.quiet && !a.json }
	root.AddCommand(
		newCompact(a), newPreflight(a), newDryRun(a), newDiff(a), newTokens(a), newRedact(a), newEvalSummary(a),
		newArchive(a), newValidateConfig(a), newCreateConfig(a), newVersion(a),
	)
	return root
}

// helpColumns is how wide help is.
const helpColumns = 80

// group is a command that only holds others.
func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	err := fmt.Errorf("unknown command %q", args[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w (did you mean %s?)", err, strings.Join(near, " or "))
	}
	return &usageError{err}
}

// arguments wraps a check of arguments, so that what fails is wrong usage.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// oneFile is the argument of commands that read a transcript.
func oneFile(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return &usageError{fmt.Errorf("which file? Name one, or - for standard input")}
	case 1:
		return nil
	}
	return &usageError{fmt.Errorf("one file at a time (%q is one too many)", args[1])}
}
