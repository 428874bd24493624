package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Only examples, which are copied, may be wider than a terminal.
func TestHelpFitsATerminal(t *testing.T) {
	var commands []*cobra.Command
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		commands = append(commands, cmd)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&app{out: io.Discard, err: io.Discard}))
	if len(commands) < 30 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, cmd := range commands {
		var b strings.Builder
		cmd.SetOut(&b)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		long, _, usage := strings.Cut(b.String(), "Usage:\n")
		if !usage {
			t.Errorf("%s: no usage in its help: %s", cmd.CommandPath(), b.String())
		}
		for line := range strings.SplitSeq(long+"\n"+cmd.LocalFlags().FlagUsagesWrapped(helpColumns), "\n") {
			if columnsOf(line) > helpColumns && !strings.HasPrefix(line, "\t") { // cobra's own commands to copy
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), columnsOf(line), line)
			}
		}
	}
}

func TestFoldingKeepsIndentation(t *testing.T) {
	long := strings.Repeat("word ", 20)
	got := folded("short\nlines\n\n" + long + "\nmore\n  " + long + "\nend")
	want := "short\nlines\n\n" + strings.TrimSpace(strings.Repeat("word ", 16)) + "\nword word word word  more\n  " + long + "\nend"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
