package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
)

func newArchiveHold(a *app) *cobra.Command {
	x := &acting{}
	var release bool
	cmd := &cobra.Command{
		Use:   "hold SESSION",
		Short: "Put a session under a legal hold, or end it",
		Long: `A session under a legal hold is neither erased nor pruned, until --release. Who wants it
and why stand in the manifest and in the heads. The head of the manifest that is printed
proves the hold later, to who kept it: compactctl archive verify SESSION --head HASH.`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, why, send, err := a.change(cmd, args[0], x)
			if err != nil {
				return err
			}
			do, done := s.Hold, "is under a legal hold"
			if release {
				do, done = s.Release, "is under no legal hold any more"
			}
			err = do(cmd.Context(), why)
			if untold := new(storage.HeadError); errors.As(err, &untold) { // it is in force
				a.complain("compactctl", untold.Error())
				err = nil
			}
			if err == nil {
				err = send()
			}
			if err != nil {
				return &brokenArchive{err}
			}
			if a.json {
				return a.printJSON(map[string]any{"session": args[0], "held": !release, "manifest_head": s.ManifestHead()})
			}
			return a.say("%s %s; head %s", oneLine(args[0]), done, s.ManifestHead())
		},
	}
	cmd.Flags().BoolVar(&release, "release", false, "end the hold")
	x.flags(cmd, "the manifest keeps")
	return cmd
}
