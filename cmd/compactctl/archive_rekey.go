package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/seal"
)

// errConfiguredKey: the key is not ours to replace.
var errConfiguredKey = errors.New("the key of this archive comes from " + compact.ArchiveKeyVariable + ": put a new one in front of it, with a comma in between, and keep the old one behind")

func newArchiveRekey(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "rekey",
		Short: "Give the archive a new key for what is written from now on",
		Long: `What leaves memory names messages by fingerprints that are sealed with a key outside of
the archive. Rekey makes a new one, in the folder compact/keys of the user's
configuration. What was written stays as it is, and the old keys stay for it, so that no
view changes. Agents that are running use the new key once they are started again. It
does not take back what somebody can do who has the archive and an old key.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			archive, cfg, err := a.openArchive(cmd)
			if err != nil {
				return err
			}
			id, err := compact.Rekey(cmd.Context(), cfg, archive)
			switch {
			case errors.Is(err, compact.ErrConfiguredKey):
				return &usageError{errConfiguredKey}
			case errors.Is(err, seal.ErrFolder):
				return err
			case err != nil:
				return &brokenArchive{err}
			}
			if a.json {
				return a.printJSON(map[string]any{"key": id})
			}
			return a.say("new fingerprints are sealed with the key %s", id)
		},
	}
}
