package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
)

func newPreflight(a *app) *cobra.Command {
	r := &reduction{app: a}
	r.call = func(ctx context.Context, m *compact.CompactManager, session string, t *transcript) (*compact.Result, error) {
		return m.Preflight(ctx, session, t.msgs, t.options()...)
	}
	cmd := &cobra.Command{
		Use:   "preflight FILE|-",
		Short: "Compact a transcript only if a compaction is due",
		Long: `Preflight does what an agent's hook does before each model call. If the transcript has
reached the trigger, preflight compacts it down to the target. Below the trigger it only
applies the edits of earlier compactions of the session.`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	r.flags(cmd)
	return cmd
}
