package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/internal/fold"
	"github.com/agentcompact/compact/replay"
)

func newArchiveStats(a *app) *cobra.Command {
	var since, agent, prices string
	var asCSV bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Add up tokens, compactions, fallbacks, recalls and money",
		Long: `Stats adds up the audit logs and ledgers of all sessions: the tokens of the histories and
of the views, compactions by stage, fallbacks, recalls, and the cost of the prompts as the
calls estimated it from the counted tokens, which is not a bill; "projected raw" is the cost
of the same calls with the whole histories. --prices estimates both by other prices. Calls that failed, and calls whose request the provider refused or answered with an
error, are counted; tokens and money are those of the others. Recalls are those in archived
messages: those after the last compaction are only in the events (compact.recall).`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := replay.Filter{Agent: agent}
			var err error
			if f.Since, err = sinceOf(since, time.Now()); err != nil {
				return err
			}
			c, err := a.cardOr(prices)
			if err != nil {
				return err
			}
			archive, err := a.readArchive(cmd)
			if err != nil {
				return err
			}
			s, err := replay.ReadStats(cmd.Context(), archive, f, c)
			switch {
			case err != nil:
				return &brokenArchive{err}
			case a.json:
				return a.printJSON(s)
			case asCSV:
				return s.WriteCSV(a.out)
			}
			return a.printStats(s)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only calls since a `TIME` such as 2026-11-22 or 2026-11-22T15:04:05Z, or of an age such as 36h or 7d")
	cmd.Flags().StringVar(&agent, "agent", "", "only calls of the agent with this `NAME`")
	cmd.Flags().StringVar(&prices, "prices", "", "`MODEL` whose list prices apply, or a JSON FILE with a price card (default: the prices that each call was estimated with)")
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print comma separated values, one line for each session")
	return cmd
}

// sinceOf parses a time, or an age.
func sinceOf(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	if number, ok := strings.CutSuffix(s, "d"); ok {
		if days, err := strconv.ParseFloat(number, 64); err == nil && days >= 0 && days <= float64(mostDays) {
			return now.Add(-time.Duration(days * float64(day))), nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, &usageError{fmt.Errorf("--since %q is neither a time (2026-11-22, 2026-11-22T15:04:05Z) nor an age (36h, 7d)", s)}
}

// printStats writes one row for each session, and one for the total.
func (a *app) printStats(s *replay.Stats) error {
	var b strings.Builder
	var rows [][]string
	if !a.quiet {
		rows = append(rows, []string{"session", "calls", "tokens in", "tokens sent", "comp.", "fallb.", "recalls", "estimated", "projected raw"})
	}
	row := func(x *replay.SessionStats) {
		rows = append(rows, []string{
			sessionName(x.Session), count(x.Calls), count(x.In), count(x.Sent), count(x.Compactions), count(x.Fallbacks), count(x.Recalls),
			fmt.Sprintf("$%.4f", x.SentUSD), fmt.Sprintf("$%.4f", x.RawUSD),
		})
	}
	for i := range s.Sessions {
		row(&s.Sessions[i])
	}
	row(&s.Total)
	fold.Table(&b, "", rows, columnsOf)
	var stages []string
	for _, name := range slices.Sorted(maps.Keys(s.Total.Stages)) {
		stages = append(stages, oneLine(name)+" "+count(s.Total.Stages[name]))
	}
	if len(stages) > 0 {
		fmt.Fprintf(&b, "\ncompactions with a part of: %s\n", strings.Join(stages, ", "))
	}
	if s.Total.Between > 0 {
		fmt.Fprintf(&b, "between compactions: edits of %s\n", things(s.Total.Between, "call"))
	}
	if s.Total.Measured > 0 {
		fmt.Fprintf(&b, "measured: $%.4f billed by the provider for %s, answers included\n", s.Total.MeasuredUSD, things(s.Total.Measured, "call"))
	}
	if s.Total.SummaryUSD > 0 {
		fmt.Fprintf(&b, "summaries: $%.4f\n", s.Total.SummaryUSD)
	}
	if s.Total.Failed > 0 {
		fmt.Fprintf(&b, "%s failed: the number of sent tokens is unknown, and no sum includes it\n", things(s.Total.Failed, "call"))
	}
	if s.Total.Refused > 0 {
		fmt.Fprintf(&b, "%s got an error from the provider, which billed nothing: no sum includes them\n", things(s.Total.Refused, "request"))
	}
	if s.Total.Unpriced > 0 {
		fmt.Fprintf(&b, "%s without a price: add --prices MODEL or --prices FILE\n", things(s.Total.Unpriced, "call"))
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}
