package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/serve/mcpserver"
	"github.com/agentcompact/compact/storage"
)

func newMCP(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer the archive to agents as tools, over the Model Context Protocol",
		Long: `Mcp is a server of the Model Context Protocol on standard input and output, for agents
that run their own loop. Its tools read the archive, redacted: sessions lists the
conversations, search finds lines in the text that was removed from one of them, and
recall returns that text. They write nothing except access records (storage.access_log).`,
		Example: `  claude mcp add compact -- compactctl mcp --archive ~/.compact/archive
  codex mcp add compact -- compactctl mcp`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isTerminal(a.in) && !a.quiet {
				fmt.Fprintln(a.err, "waiting for an agent on standard input. Agents start this command themselves: see 'compactctl mcp --help'. Ctrl-C ends it.")
			}
			t := &tools{app: a, cmd: cmd}
			return mcpserver.Run(cmd.Context(), t.open, versionOf(debug.ReadBuildInfo()).Version, io.NopCloser(a.in), kept{a.out}, mcpserver.Recorder(t.record))
		},
	}
	a.addArchive(cmd)
	return cmd
}

// tools gives the tools of the server access to the archive. The server calls them
// concurrently, and a configuration that is loaded changes the app.
type tools struct {
	*app
	cmd *cobra.Command
	mu  sync.Mutex
}

func (t *tools) open(context.Context) (storage.Archive, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readArchive(t.cmd)
}

// record is [app.accessed]. For an unknown session it records nothing, because there is
// nothing to read.
func (t *tools) record(ctx context.Context, session, op, what string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	archive, err := t.readArchive(t.cmd)
	if err != nil {
		return err
	}
	s, err := openSession(ctx, archive, session)
	if err == nil {
		return t.accessed(t.cmd, s, op, what)
	}
	if broken := new(brokenArchive); errors.As(err, &broken) {
		return err
	}
	return nil
}

// kept is an output that Close leaves open.
type kept struct{ io.Writer }

func (kept) Close() error { return nil }
