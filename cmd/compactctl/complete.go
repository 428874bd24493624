package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage/record"
)

// mostCompleted limits the sessions that a completion offers.
const mostCompleted = 1000

// addCompletion lets shells complete the values of flags and arguments: models,
// settings and the sessions of the archive.
func addCompletion(a *app, cmd *cobra.Command) {
	if words := strings.Fields(cmd.Use); len(words) > 1 && cmd.ValidArgsFunction == nil {
		if name := strings.Trim(words[1], "[].…"); name == "SESSION" {
			cmd.ValidArgsFunction = a.completeSession
		}
	}
	for flag, offer := range map[string]cobra.CompletionFunc{
		"model":   completeModel(cobra.ShellCompDirectiveNoFileComp),
		"prices":  completeModel(cobra.ShellCompDirectiveDefault), // or the name of a file
		"set":     completeSetting,
		"session": a.completeSessionFlag,
	} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
			panic(err) // two completions for one flag: a bug in this program
		}
	}
	for _, c := range cmd.Commands() {
		addCompletion(a, c)
	}
}

// completeModel offers the names of the models with a known price. The names are sorted only
// when a shell asks for them.
func completeModel(then cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return price.Names(), then
	}
}

// completeSetting offers the paths of all settings.
func completeSetting(*cobra.Command, []string, string) (all []string, _ cobra.ShellCompDirective) {
	_, origins, err := configs.LoadWithOrigins("", configs.Environ(nil))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, o := range origins {
		all = append(all, o.Path+"=")
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeSessionFlag offers the ids of the archive's sessions. The arguments have no
// effect on it.
func (a *app) completeSessionFlag(cmd *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) {
	return a.completeSession(cmd, nil, begin)
}

// completeSession offers the ids of the archive's sessions, for the first argument.
func (a *app) completeSession(cmd *cobra.Command, args []string, begin string) (all []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	archive, err := a.readArchive(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for info, err := range record.Sessions(cmd.Context(), archive) {
		if err != nil || len(all) == mostCompleted {
			break
		}
		if id := cmp.Or(info.ID, info.Dir); strings.HasPrefix(id, begin) && !strings.ContainsAny(id, "\t\r\n") {
			all = append(all, id)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
