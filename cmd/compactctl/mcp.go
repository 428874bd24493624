package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/serve/mcpserver"
	"github.com/agentcompact/compact/storage"
)

func newMCP(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer the archive to agents as tools, over the Model Context Protocol",
		Long: `Mcp is a server of the Model Context Protocol on standard input and output, for agents
that run their own loop. Its tools read the archive, redacted, and write nothing:
sessions lists the conversations, search finds lines in the text that was removed from
one of them, and recall returns that text.`,
		Example: `  claude mcp add compact -- compactctl mcp --archive ~/.compact/archive
  codex mcp add compact -- compactctl mcp`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isTerminal(a.in) && !a.quiet {
				fmt.Fprintln(a.err, "waiting for an agent on standard input. Agents start this command themselves: see 'compactctl mcp --help'. Ctrl-C ends it.")
			}
			open := func(context.Context) (storage.Archive, error) { return a.readArchive(cmd) }
			return mcpserver.Run(cmd.Context(), open, versionOf(debug.ReadBuildInfo()).Version, io.NopCloser(a.in), kept{a.out})
		},
	}
	a.addArchive(cmd)
	return cmd
}

// kept is an output that Close leaves open.
type kept struct{ io.Writer }

func (kept) Close() error { return nil }
