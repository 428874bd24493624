package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy"
)

func newDryRun(a *app) *cobra.Command {
	p := &planner{app: a}
	cmd := &cobra.Command{
		Use:   "dry-run FILE|-",
		Short: "Show the plan of a compaction, one row for each message",
		Long: `Dry-run shows what compact (with --preflight: preflight) would do to each message, and
why. Dry-run stores nothing and asks no model. Where a model would write a summary,
dry-run counts a stand-in of the expected size. Messages are counted from 1; the index
in --json counts from 0.`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, res, err := p.plan(cmd, args[0])
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(res)
			case a.quiet:
				return nil
			}
			return p.table(t, res)
		},
	}
	p.flags(cmd)
	return cmd
}

// table writes one row for each message, and the outcome below.
func (p *planner) table(t *transcript, res *compact.Result) error {
	c := layOut(p.columns(), res)
	var b strings.Builder
	fmt.Fprintln(&b, p.style.dim(c.row("#", "role", "what", "tokens", "why", "begins with")))
	for i, d := range res.Decisions {
		line := c.row(strconv.Itoa(i+1), oneLine(string(d.Role)), d.Decision.String(), tokensOf(d), why(d.Reason),
			oneLine(p.redactor.Text(firstWords(t.msgs[i])).String()))
		fmt.Fprintln(&b, p.paint(d.Decision, strings.TrimRight(line, " ")))
	}
	b.WriteByte('\n')
	r := &reportWriter{style: p.style, res: res, circumstances: p.circumstances}
	r.headline()
	r.outcome()
	r.candidates()
	r.note("plan", "plan", "nothing was changed or stored")
	b.WriteString(r.String())
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *planner) paint(d policy.Decision, line string) string {
	switch d {
	case policy.Masked, policy.Truncated:
		return p.style.yellow(line)
	case policy.Summarized:
		return p.style.cyan(line)
	case policy.Dropped:
		return p.style.red(line)
	}
	return line
}

// tokensOf writes "4200 → 21", or one number if nothing changed.
func tokensOf(d compact.MessageDecision) string {
	switch {
	case d.TokensAfter == d.TokensBefore:
		return count(d.TokensBefore)
	case d.TokensAfter == 0:
		return count(d.TokensBefore) + " → -"
	}
	return count(d.TokensBefore) + " → " + count(d.TokensAfter)
}

// why returns the first half of a reason; the JSON has the whole.
func why(reason string) string {
	first, _, _ := strings.Cut(reason, ";")
	return first
}

// layout holds the width of each column of the plan.
type layout struct{ index, role, what, tokens, why, words int }

// layOut divides the width of a line: short columns get the width that they need,
// reasons at most three tenths, the messages the rest.
func layOut(columns int, res *compact.Result) layout {
	c := layout{index: len(strconv.Itoa(len(res.Decisions))), role: 4, what: 4, tokens: 6, why: 3}
	for _, d := range res.Decisions {
		c.role = min(max(c.role, columnsOf(oneLine(string(d.Role)))), 10)
		c.what = max(c.what, len(d.Decision.String()))
		c.tokens = max(c.tokens, columnsOf(tokensOf(d)))
		c.why = min(max(c.why, columnsOf(why(d.Reason))), columns/10*3)
	}
	c.words = max(columns-c.index-c.role-c.what-c.tokens-c.why-5*gap, 10)
	return c
}

const gap = 2

func (c layout) row(index, role, what, tokens, why, words string) string {
	return strings.Join([]string{
		right(index, c.index), left(clip(role, c.role), c.role), left(what, c.what), right(tokens, c.tokens),
		left(clip(why, c.why), c.why), clip(words, c.words),
	}, strings.Repeat(" ", gap))
}
