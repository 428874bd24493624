package eval

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/internal/fold"
)

// Write prints the totals as a table, and a second table by source if there are
// several sources. The error is the writer's.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`What a summary tells of what it replaced, in %: sentences of the user verbatim
(fit: sessions whose words fit and are all there), commands whose last run
failed, false of the stated outcomes, changed files, files told of as changed
whose edits were refused, entries of the plan, the next step, characters in
lists of names (bag), identifiers needed later in readable lines (need) and
anywhere (names).

`)
	totals := r.Totals()
	table(&b, "", totals)
	if len(totals) < len(r.Rows) {
		b.WriteString("\nBy source\n\n")
		table(&b, ", source", r.Rows)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func table(b *strings.Builder, source string, rows []Row) {
	if len(rows) == 0 {
		b.WriteString("  no session fills a window\n")
		return
	}
	lines := [][]string{{"window, summary" + source, "sess.", "user", "fit", "failed", "false", "changed", "unmade", "plan", "next", "bag", "need", "names", "tokens"}}
	for _, r := range rows {
		lines = append(lines, []string{
			strings.TrimSpace(fmt.Sprint(r.Setting, " ", r.Name, " ", r.Source)), strconv.Itoa(r.Sessions), percent(r.User, r.UserOf), percent(r.Fitting, r.FittingOf),
			percent(r.Failed, r.FailedOf), fmt.Sprintf("%d/%d", r.False, r.Stated), percent(r.Changed, r.ChangedOf), fmt.Sprintf("%d/%d", r.Unmade, r.UnmadeOf),
			percent(r.Plan, r.PlanOf), percent(r.Next, r.NextOf), percent(r.Bag, r.Chars), percent(r.Found, r.Needed), percent(r.Anywhere, r.Needed), strconv.Itoa(r.Tokens / r.Sessions),
		})
	}
	fold.Table(b, "  ", lines, nil)
}

// percent returns a share in percent; "-" if of is 0.
func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(n)/float64(of))
}

var columns = []string{"window", "max_tokens", "summary", "source", "sessions", "user", "user_of", "fitting", "fitting_of", "failed", "failed_of", "false", "stated",
	"changed", "changed_of", "unmade", "unmade_of", "plan", "plan_of", "next", "next_of", "stale", "bag_chars", "chars", "found", "anywhere", "needed", "tokens", "invented", "missing"}

// WriteCSV writes the rows as comma separated values with a header, with counts
// instead of shares. The error is the writer's.
func (r Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write(columns) // c.Error returns a failure
	for _, row := range r.Rows {
		line := []string{strconv.Itoa(row.Setting.Window), strconv.Itoa(row.Setting.MaxTokens), row.Name, row.Source}
		for _, n := range []int{row.Sessions, row.User, row.UserOf, row.Fitting, row.FittingOf, row.Failed, row.FailedOf, row.False, row.Stated,
			row.Changed, row.ChangedOf, row.Unmade, row.UnmadeOf, row.Plan, row.PlanOf, row.Next, row.NextOf, row.Stale, row.Bag, row.Chars, row.Found, row.Anywhere, row.Needed,
			row.Tokens, row.Invented, row.Missing} {
			line = append(line, strconv.Itoa(n))
		}
		_ = c.Write(line)
	}
	c.Flush()
	return c.Error()
}
