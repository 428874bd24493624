package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
)

func newCompact(a *app) *cobra.Command {
	r := &reduction{app: a}
	r.call = func(ctx context.Context, m *compact.CompactManager, session string, t *transcript) (*compact.Result, error) {
		return m.ManualCompact(ctx, session, t.msgs, r.note, t.options()...)
	}
	cmd := &cobra.Command{
		Use:   "compact FILE|-",
		Short: "Compact a transcript now, whatever its size",
		Long: `Compact masks and summarizes all that may be, whatever the size of the transcript
(a list of messages or a request of any of the four wires, or the log of an agent:
see --format). What it takes out is archived first, redacted. What is written has
the form of what was read. The same file a second time finds what was done, and
changes nothing.`,
		Example: `  compactctl compact session.jsonl --model gpt-4 --max-context-tokens 32000
  compactctl compact - --out - < session.jsonl > small.jsonl`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&r.note, "note", "", "`TEXT` that says why, for report and trace")
	return cmd
}
