package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/configs"
)

func newTokens(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "tokens FILE|-",
		SuggestFor: []string{"count", "cost"},
		Short:      "Count the tokens of a transcript by role, part and tool",
		Args:       oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.load(cmd, configs.KeysOptional())
			if err != nil {
				return err
			}
			t, err := a.read(args[0])
			if err != nil {
				return err
			}
			if sent := t.file.Request().About().Model; sent != "" && t.model == "" {
				cfg.Model = sent
			}
			c, err := a.census(cmd.Context(), cfg, t)
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(c)
			case a.quiet:
				return nil
			}
			return c.print(a, t)
		},
	}
	a.addConfig(cmd)
	a.addInput(cmd)
	return cmd
}

func (c *census) print(a *app, t *transcript) error {
	var b strings.Builder
	unit := "tokens"
	if c.Counting == "utf-16" {
		unit = "characters"
	}
	model := "no model named"
	if c.Model != "" {
		model = printable(c.Model)
	}
	guess := ""
	if c.Guessed {
		guess = ", which is a guess: set --max-context-tokens"
	}
	fmt.Fprintf(&b, "%s\n%s of a window of %s%s; %s, counted by %s\n",
		a.style.bold(fmt.Sprintf("%s: %s %s in %s", printable(t.name), count(c.Total), unit, things(c.Messages, "message"))),
		share(c.Total, c.MaxTokens), count(c.MaxTokens), guess, model, c.Counting)
	for _, s := range []struct {
		head, of string
		rows     []tally
	}{{"role", "messages", c.Roles}, {"part", "parts", c.Parts}, {"tool", "calls", c.Tools}} {
		if len(s.rows) > 0 {
			c.section(&b, a.style, s.head, s.of, s.rows)
		}
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

func (c *census) section(b *strings.Builder, s style, head, of string, rows []tally) {
	name := columnsOf(head)
	for _, r := range rows {
		name = min(max(name, columnsOf(oneLine(r.Name))), 30)
	}
	fmt.Fprintf(b, "\n%s\n", s.dim(left(head, name)+right(of, numberColumns)+right("tokens", numberColumns)+right("share", 8)))
	for _, r := range rows {
		cells := (r.Tokens*tokenBar + c.Total/2) / max(c.Total, 1)
		line := left(clip(oneLine(r.Name), name), name) + right(amount(r.Count), numberColumns) + right(count(r.Tokens), numberColumns) +
			right(fmt.Sprintf("%.1f %%", 100*float64(r.Tokens)/float64(max(c.Total, 1))), 8)
		fmt.Fprintln(b, strings.TrimRight(line+"  "+s.green(strings.Repeat("█", max(cells, 0))), " "))
	}
}

// tokenBar is the width of the bar for all tokens.
const tokenBar = 30
