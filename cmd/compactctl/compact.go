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
		Long: `Compact masks and summarizes as much as the settings allow, whatever the size of the
transcript. A transcript is a list of messages, a request of any of the four wires, or
the log of an agent (see --format). Compact first stores the removed text in the archive,
redacted. The output has the format of the input. If you compact the same file again,
compact finds the earlier result and changes nothing.`,
		Example: `  compactctl compact session.jsonl --model gpt-4 --max-context-tokens 32000
  compactctl compact - --out - < session.jsonl > small.jsonl`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&r.note, "note", "", "`TEXT` of the reason, for report and trace")
	return cmd
}
