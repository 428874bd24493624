package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
)

// added is a transcript that was added to the archive.
type added struct {
	File     string `json:"file"`
	Session  string `json:"session"`
	Messages int    `json:"messages"`
}

func newArchiveAdd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add FILE...",
		Short: "Archive transcripts without compacting them",
		Long: `Add stores a redacted copy of each transcript as transcript-final-NNN.jsonl of its
session, in any format that compact reads. --session names the session. Without it,
the name is made from the first messages, as compact does it. Adding the same file
again stores it again.`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.input.session != "" && len(args) > 1 {
				return &usageError{errors.New("--session allows only one FILE")}
			}
			cfg, err := a.load(cmd, configs.KeysOptional())
			if err != nil {
				return err
			}
			if cfg.Model == "" {
				cfg.Model = "gpt-4" // nothing is counted
			}
			all, err := a.add(cmd, cfg, args)
			if a.json {
				return errors.Join(a.printJSON(all), err)
			}
			for _, x := range all {
				err = errors.Join(a.say("%s: %s in session %s", printable(x.File), things(x.Messages, "message"), sessionName(x.Session)), err)
			}
			return err
		},
	}
	a.addInput(cmd)
	cmd.Flags().StringVar(&a.input.session, "session", "", "`ID` of the session (default: a keyed hash of the first messages)")
	return cmd
}

func (a *app) add(cmd *cobra.Command, cfg compact.Config, files []string) (all []added, err error) {
	cfg.OnTraceError, cfg.Trace.CloseTimeout = a.losses.add, closeTraceIn
	m, err := compact.New(cmd.Context(), cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close(cmd.Context(), m)) }()
	for _, file := range files {
		t, err := a.read(file)
		if err != nil {
			return all, err
		}
		id, err := a.sessionIn(cmd.Context(), cfg, m, t)
		if err != nil {
			return all, err
		}
		if err := m.Archive(cmd.Context(), id, t.msgs); err != nil {
			return all, err
		}
		all = append(all, added{t.name, id, len(t.msgs)})
	}
	return all, nil
}
