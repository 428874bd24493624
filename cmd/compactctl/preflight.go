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
		Short: "Compact a transcript only if it is due, as before a model call",
		Long: `Preflight does what an agent's hook does before each model call: it compacts when
the transcript has reached the trigger, down to the target; below it, it only
applies what earlier compactions of the session did.`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	r.flags(cmd)
	return cmd
}
