package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
)

func newArchiveErase(a *app) *cobra.Command {
	x := &acting{}
	var yes bool
	cmd := &cobra.Command{
		Use:   "erase SESSION --yes",
		Short: "Remove a session for good",
		Long: `Erase removes every file of a session and leaves a tombstone, which holds no id but
its hash. A session that a legal hold or a lock of the bucket keeps stays as it is;
that it was asked for and refused, and until when, is put on record.`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, why, send, err := a.change(cmd, args[0], x)
			if err != nil {
				return err
			}
			if !yes {
				return &usageError{fmt.Errorf("this removes %s for good; say --yes", s.Location())}
			}
			t, err := s.Erase(cmd.Context(), why)
			if err == nil {
				err = send()
			}
			if errors.Is(err, storage.ErrHeld) {
				err = fmt.Errorf("%q is under a legal hold; compactctl archive hold --release ends it: %w", args[0], err)
			}
			if err != nil {
				return &brokenArchive{err}
			}
			if a.json {
				return a.printJSON(t)
			}
			return a.say("erased %s: %s, %s", oneLine(args[0]), things(t.Files, "file"), bytesOf(t.Bytes))
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "really")
	x.flags(cmd, "the tombstone keeps")
	return cmd
}
