package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/storage/spool"
)

func newArchiveFlush(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "flush",
		Short: "Send the files that wait in the spool",
		Long: `Flush sends the files that wait in the folder storage.spool to the bucket, whichever
process wrote them. It exits with 5 when files are left: when the bucket cannot be
reached, or when another machine has written to the same session.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.load(cmd, configs.KeysOptional())
			if err != nil {
				return err
			}
			if cfg.Storage.Spool == "" {
				return &usageError{errors.New("there is no spool: set storage.spool to its folder")}
			}
			archive, err := configs.OpenArchive(cfg.Storage)
			if err != nil {
				return &brokenArchive{err}
			}
			s, _, ok := configs.SpoolOf(archive)
			if !ok { // the folder of the spool does not exist
				return a.flushed(spool.Waiting{Dir: cfg.Storage.Spool}, spool.Waiting{})
			}
			before, err := s.Waiting()
			if err != nil {
				return &brokenArchive{err}
			}
			a.progress.start("sending")
			err = s.Close(cmd.Context())
			a.progress.stop()
			if err != nil {
				return &brokenArchive{err}
			}
			return a.flushed(before, spool.Waiting{Dir: before.Dir})
		},
	}
}

// flushed prints the number of operations that were sent.
func (a *app) flushed(before, after spool.Waiting) error {
	sent := before.Operations - after.Operations
	if a.json {
		return a.printJSON(struct {
			Sent int           `json:"sent"`
			Left spool.Waiting `json:"left"`
		}{sent, after})
	}
	if sent == 0 {
		return a.say("nothing waits in %s", before.Dir)
	}
	return a.say("sent %s of %s", things(sent, "operation"), things(before.Sessions, "session"))
}
