package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/replay"
)

func newReport(a *app) *cobra.Command {
	var page, prices string
	cmd := &cobra.Command{
		Use:        "report SESSION",
		SuggestFor: []string{"trace", "inspect"},
		Short:      "Report one archived session: calls, compactions, removed text",
		Long:       aboutReport,
		Example: `  compactctl report 3f9a2c1b70de0c11 --html session.html
  compactctl report job-7 --archive s3://bucket/prefix --json`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.report(cmd, args, page, prices) },
	}
	a.addArchive(cmd)
	cmd.Flags().StringVar(&page, "html", "", "write a page to `FILE`")
	cmd.Flags().StringVar(&prices, "prices", "", "`MODEL` whose list prices apply, or a JSON FILE with a price card (default: the prices that each call was estimated with)")
	return cmd
}

func (a *app) report(cmd *cobra.Command, args []string, page, prices string) error {
	c, err := a.cardOr(prices)
	if err != nil {
		return err
	}
	archive, err := a.readArchive(cmd)
	if err != nil {
		return err
	}
	s, err := openToRead(cmd.Context(), archive, a.called(cmd.Context(), archive, args[0]))
	if err != nil {
		return err
	}
	if err := a.accessed(cmd, s, "report", ""); err != nil {
		return err
	}
	to, err := a.openOutput(page)
	if err != nil {
		return err
	}
	defer to.discard()
	account, err := replay.ReadAccount(cmd.Context(), args[0], s, c)
	if err != nil {
		return &brokenArchive{err}
	}
	if to != nil {
		var b bytes.Buffer
		if err := errors.Join(account.WriteHTML(&b, typed(cmd, args)), to.commit(b.Bytes())); err != nil {
			return err
		}
	}
	switch {
	case a.json:
		return a.printJSON(account)
	case a.quiet:
		return nil
	}
	return a.printAccount(account, page)
}

const aboutReport = `Report reads one session of the archive. It shows the tokens that were sent call by call,
each compaction with its reason, its stages, its summary and the messages that it removed
(role, tool, tokens, reference), edits between compactions, recalls, errors, and the cost
of the prompts as the calls estimated it. --html writes all of that as one page that needs no
network. All text is redacted, as it is in the archive. Times are in UTC.

The cost is an estimate from the counted tokens, not a bill. It is unknown what was sent
for calls that failed; report counts these calls separately.`

// cardOr returns the named price card, or none if no name is given.
func (a *app) cardOr(name string) (price.Card, error) {
	if name == "" {
		return price.Card{}, nil
	}
	return a.card(name)
}

// printAccount prints the account in a few lines.
func (a *app) printAccount(x *replay.Account, page string) error {
	var b strings.Builder
	sums := x.Sums()
	fmt.Fprintf(&b, "%s\n%s\n\n", a.style.bold("session "+sessionName(x.Session)), printable(x.Location))
	fmt.Fprintf(&b, "%s, %s tokens of history, %s tokens sent; %s%s, %s, %s\n",
		things(sums.Calls, "call"), count(sums.In), count(sums.Sent), failedCalls(sums.Failed)+refusedRequests(sums.Refused), things(len(x.Steps), "compaction"), things(len(x.Recalls), "recall")+" in archived messages", problemsOf(x))
	if between := x.BetweenSteps(); between != "" {
		fmt.Fprintf(&b, "between steps: %s\n", between)
	}
	if x.Money.Priced {
		fmt.Fprintf(&b, "prompts: $%.4f estimated, $%.4f projected for whole histories\n", x.Money.Sent, x.Money.Raw)
		fmt.Fprintf(&b, "prices: %s\n", oneLine(x.Money.Card))
	}
	if x.Money.Priced && x.Money.Unpriced > 0 {
		fmt.Fprintf(&b, "%s without a price: add --prices MODEL or --prices FILE\n", things(x.Money.Unpriced, "call"))
	}
	b.WriteString(summariesOf(&x.Money))
	b.WriteString(stepLines(x))
	b.WriteString(problemLines(x.Errors, x.Agents()))
	if page != "" {
		fmt.Fprintf(&b, "written     %s\n", printable(page))
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// refusedRequests describes the number of requests that the provider refused or answered
// with an error.
func refusedRequests(n int) string {
	if n == 0 {
		return ""
	}
	return things(n, "request") + " got an error from the provider; "
}

// failedCalls describes the number of calls that ended with an error. Their tokens
// are not counted.
func failedCalls(n int) string {
	if n == 0 {
		return ""
	}
	return things(n, "call") + " failed; "
}

// stepLines returns a line for each compaction, with its agent if there are several.
func stepLines(x *replay.Account) string {
	var b strings.Builder
	several, width := x.Agents(), 0
	for i := range x.Steps {
		width = max(width, columnsOf(oneLine(x.Steps[i].Agent)), len("agent"))
	}
	column := func(agent string) string {
		if !several {
			return ""
		}
		return "  " + left(agent, width)
	}
	if len(x.Steps) > 0 {
		fmt.Fprintf(&b, "\nstep%s  %s → %s  stages, removed messages, reason\n", column("agent"), right("before", 10), left("after", 10))
	}
	for i := range x.Steps {
		s := &x.Steps[i]
		fmt.Fprintf(&b, "%4d%s  %s → %s  %s, %s  %s\n", s.Step, column(oneLine(s.Agent)), right(count(s.Before), 10), left(count(s.After), 10),
			oneLine(strings.Join(s.Stages, "+")), things(len(s.Gone)+s.Missing, "message"), oneLine(s.Why()))
	}
	return b.String()
}

// summariesOf describes the cost of summaries by models.
func summariesOf(m *replay.AccountMoney) string {
	if m.Summaries == 0 {
		return ""
	}
	text := fmt.Sprintf("summaries: $%.4f", m.Summaries)
	if m.Estimated > 0 {
		text += fmt.Sprintf(", $%.4f of it estimated", m.Estimated)
	}
	return text + "\n"
}
