package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

func newDiff(a *app) *cobra.Command {
	d := &diffWriter{planner: planner{app: a}}
	cmd := &cobra.Command{
		Use:   "diff FILE|-",
		Short: "Show the changes that a compaction makes",
		Long: `Diff shows, like diff -u, each message that compact (with --preflight: preflight) would
change or remove, and its replacement. Diff stores nothing, asks no model, and redacts
its output. Messages are counted from 1; --json counts them from 0.`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, res, err := d.plan(cmd, args[0])
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(d.changes(t, res))
			case a.quiet:
				return nil
			}
			return d.print(t, res)
		},
	}
	d.flags(cmd)
	cmd.Flags().BoolVar(&d.full, "full", false, "show every line")
	return cmd
}

// diffWriter writes the difference between a history and its view.
type diffWriter struct {
	planner
	full bool
	b    strings.Builder
}

// change is one place at which view and history differ: messages of the history that
// were edited or removed together, and the messages of the view in their place.
type change struct {
	Messages     []int  `json:"messages"` // of the history
	Decision     string `json:"decision"`
	Reason       string `json:"reason"`
	TokensBefore int    `json:"tokens_before"`
	TokensAfter  int    `json:"tokens_after"`
	Before       string `json:"before"`
	After        string `json:"after"`

	role string
}

// changes returns the changes in the order of the history.
func (d *diffWriter) changes(t *transcript, res *compact.Result) []change {
	all := []change{}
	at, news := places(res), d.replacement(res)
	for i, was := range res.Decisions {
		switch {
		case was.Decision == policy.Kept:
		case at[i] >= 0:
			all = append(all, change{
				Messages: []int{i}, Decision: was.Decision.String(), Reason: was.Reason, role: string(was.Role),
				TokensBefore: was.TokensBefore, TokensAfter: was.TokensAfter,
				Before: d.text(t.msgs[i]), After: d.text(res.Messages[at[i]]),
			})
		default:
			all = d.gone(all, was, t.msgs[i], news)
		}
	}
	return all
}

// replacement returns the summary or notice that replaces removed messages.
func (d *diffWriter) replacement(res *compact.Result) *change {
	c := &change{}
	for k, msg := range res.Messages {
		if res.Sources[k] < 0 {
			c.After = strings.TrimPrefix(c.After+"\n"+d.text(msg), "\n")
		}
	}
	if c.After != "" {
		c.TokensAfter = res.After.Total - res.After.Overhead - res.After.ToolsSchema
		for _, was := range res.Decisions {
			c.TokensAfter -= was.TokensAfter
		}
	}
	return c
}

// gone adds a removed message to the previous change, if that removed others for the
// same reason.
func (d *diffWriter) gone(all []change, was compact.MessageDecision, msg message.Message, news *change) []change {
	number := was.Index + 1
	if d.json {
		number = was.Index
	}
	line := fmt.Sprintf("%d %s: %s", number, was.Role, d.redacted(firstWords(msg)))
	if n := len(all) - 1; n >= 0 && all[n].role == "" && all[n].Reason == was.Reason {
		all[n].Messages = append(all[n].Messages, was.Index)
		all[n].TokensBefore += was.TokensBefore
		all[n].Before += "\n" + line
		return all
	}
	c := change{
		Messages: []int{was.Index}, Decision: was.Decision.String(), Reason: was.Reason,
		TokensBefore: was.TokensBefore, Before: line, After: news.After, TokensAfter: news.TokensAfter,
	}
	*news = change{} // the part is shown only once
	return append(all, c)
}

func (d *diffWriter) redacted(s string) string { return d.redactor.Text(s).String() }

// text returns the text of a message for people.
func (d *diffWriter) text(m message.Message) string {
	var parts []string
	for _, p := range m.Parts {
		switch p.Kind {
		case message.KindText, message.KindToolResult, message.KindReasoning:
			parts = append(parts, p.Text)
		case message.KindToolCall:
			parts = append(parts, "→ "+p.Name+" "+string(p.Args))
		default:
			parts = append(parts, "("+p.Kind.String()+")")
		}
	}
	return printable(d.redacted(strings.Join(parts, "\n")))
}

func (d *diffWriter) print(t *transcript, res *compact.Result) error {
	all := d.changes(t, res)
	if len(all) > 0 {
		fmt.Fprintf(&d.b, "%s\n%s\n", d.style.bold("--- "+printable(t.name)), d.style.bold("+++ "+printable(t.name)+" (compacted)"))
	}
	for _, c := range all {
		d.hunk(c)
	}
	if len(all) == 0 {
		fmt.Fprintln(&d.b, d.sentence(res))
	}
	_, err := io.WriteString(d.out, d.b.String())
	return err
}
