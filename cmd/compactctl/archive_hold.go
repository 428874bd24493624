package main

import (
	"github.com/spf13/cobra"
)

func newArchiveHold(a *app) *cobra.Command {
	var reason string
	var release bool
	cmd := &cobra.Command{
		Use:   "hold SESSION",
		Short: "Put a session under a legal hold, or end it",
		Long:  `A session under a legal hold is neither erased nor pruned, until --release.`,
		Args:  arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			archive, cfg, err := a.openArchive(cmd)
			if err != nil {
				return err
			}
			s, err := openSession(cmd.Context(), archive, a.called(cmd.Context(), archive, args[0]))
			if err != nil {
				return err
			}
			why, err := spoken(cfg, reason)
			if err != nil {
				return err
			}
			do, done := s.Hold, "is under a legal hold"
			if release {
				do, done = s.Release, "is under no legal hold any more"
			}
			if err := do(cmd.Context(), why); err != nil {
				return &brokenArchive{err}
			}
			if a.json {
				return a.printJSON(map[string]any{"session": args[0], "held": !release})
			}
			return a.say("%s %s", oneLine(args[0]), done)
		},
	}
	cmd.Flags().BoolVar(&release, "release", false, "end the hold")
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` that the manifest keeps")
	return cmd
}
