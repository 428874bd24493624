package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/seal"
)

// The reasons why rekey makes no key.
var (
	errConfiguredKey = errors.New("the key of this archive comes from " + compact.ArchiveKeyVariable + ": set it to NEW,OLD (the new key first), and keep both keys")
	errBucketKey     = errors.New("a bucket stores no key: set " + compact.ArchiveKeyVariable + " to NEW,OLD (the new key first) on every machine, and keep both keys. OLD is in the file compact/keys/machine of the configuration folder of the machine that wrote the data")
)

func newArchiveRekey(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "rekey",
		Short: "Give the archive a new key for future writes",
		Long: `The archive, events and placeholders name messages by fingerprints. A key seals the
fingerprints, and this key is not in the archive. Rekey makes a new key in the folder
compact/keys of the user's configuration. Existing files stay as they are. The old keys
remain to read them, so no view changes. A running agent uses the new key after a
restart. A new key does not protect old files from a reader who has both the archive
and an old key.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			archive, cfg, err := a.openArchive(cmd)
			if err != nil {
				return err
			}
			id, err := compact.Rekey(cmd.Context(), cfg, archive)
			switch {
			case errors.Is(err, compact.ErrConfiguredKey):
				return &usageError{noNewKey(os.Getenv(compact.ArchiveKeyVariable))}
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

// noNewKey returns the reason why rekey makes no key. configured is the key in the
// environment; without one, the archive is a bucket.
func noNewKey(configured string) error {
	if configured == "" {
		return errBucketKey
	}
	return errConfiguredKey
}
