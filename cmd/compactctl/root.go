package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "compactctl",
		Short: "Compact the transcripts of agents, and inspect the effect",
		Long: `Compactctl makes a conversation small enough for a model's window and does the least harm
first. It cuts one huge tool result, masks old results, summarizes the old part, and drops
messages only if that is not enough. It first stores the removed text in an archive,
redacted.

Exit status: 0 done; 1 failed, or refused under a legal hold; 2 wrong usage or
configuration; 3 bad input (file and line are named); 4 the budget cannot be met;
5 the archive failed; 6 the archive is not proven to be complete (archive verify
--require-proof).`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          group,
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpColumns)))
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON instead of a table")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "print no table and no progress")
	root.Version = versionOf(debug.ReadBuildInfo()).String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{wrongFlag(cmd, err)} })
	root.PersistentPreRun = func(*cobra.Command, []string) { a.progress.on = a.progress.on && !a.quiet && !a.json }
	root.AddCommand(
		newCompact(a), newPreflight(a), newDryRun(a), newDiff(a), newTokens(a), newRedact(a), newReplay(a), newEvalSummary(a), newTune(a), newReport(a),
		newServe(a), newRun(a), newMCP(a), newArchive(a), newValidateConfig(a), newCreateConfig(a), newVersion(a),
	)
	strict(root)
	addExamples(root, "")
	addCompletion(a, root)
	root.SetHelpFunc(a.helpOf(root.HelpFunc()))
	return root
}

// helpOf shows the help of a command, as show does, wrapped at helpColumns. If the name
// before --help is not a command of its group, helpOf records an error; cobra alone would
// show the help of the group, without an error.
func (a *app) helpOf(show func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		_, rest, _ := cmd.Root().Find(args)
		names := slices.DeleteFunc(slices.Clone(rest), func(arg string) bool { return strings.HasPrefix(arg, "-") })
		if cmd.HasAvailableSubCommands() && len(names) > 0 {
			a.unknown = group(cmd, names)
			return
		}
		cmd.Long = folded(cmd.Long) // not at each start: it takes longer than some commands
		show(cmd, args)
	}
}

// strict makes the commands that cobra adds refuse unknown arguments.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, group
		case "help":
			cmd.Run, cmd.RunE = nil, help
		}
	}
}

// help shows the help of a command, as --help does.
func help(cmd *cobra.Command, args []string) error {
	of, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return group(of, rest)
	}
	of.InitDefaultHelpFlag()
	return of.Help()
}

// helpColumns is the width of the help.
const helpColumns = 80

// group is the RunE of a command that only has subcommands.
func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	err := fmt.Errorf("unknown command %q", args[0])
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(args[0])
	if len(near) == 0 {
		near = below(cmd, args[0])
	}
	if len(near) > 0 {
		err = fmt.Errorf("%w (did you mean %s?)", err, strings.Join(near, " or "))
	}
	return &usageError{err}
}

// below returns subcommands with a name at any level, such as archive search for
// search.
func below(cmd *cobra.Command, name string) []string {
	var near []string
	for _, c := range cmd.Commands() {
		if !c.HasAvailableSubCommands() || c.Name() == "completion" {
			continue
		}
		c.SuggestionsMinimumDistance = 1
		for _, s := range c.SuggestionsFor(name) {
			near = append(near, c.Name()+" "+s)
		}
	}
	return near
}

// arguments wraps a check of arguments, so that its error counts as wrong usage.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		for n := 1; n <= mostArguments; n++ {
			if check(cmd, append(slices.Clone(args), make([]string, n)...)) == nil {
				return &usageError{fmt.Errorf("too few arguments: %s", cmd.UseLine())}
			}
		}
		return &usageError{fmt.Errorf("too many arguments (%q): %s", args[len(args)-1], cmd.UseLine())}
	}
}

// mostArguments is the largest number of arguments that a command requires.
const mostArguments = 2

// oneFile checks that a command that reads a transcript has one argument, the file.
func oneFile(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return &usageError{fmt.Errorf("no input file: name one, or - for standard input")}
	case 1:
		return nil
	}
	return &usageError{fmt.Errorf("one file at a time (%q is one too many)", args[1])}
}
