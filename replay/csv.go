package replay

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteCSV writes one line per session, window and policy. The error is the
// writer's.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"session", "window", "policy", "reference", "calls", "cost_usd", "raw_cost_usd", "summary_cost_usd", "cached_cost_usd", "written_cost_usd", "fresh_cost_usd", "output_cost_usd",
		"cached", "written", "fresh", "output", "largest_prompt", "calls_over_window", "calls_refused", "compactions", "changed_prefixes",
		"tokens_sent", "identifiers_needed", "identifiers_at_hand", "one_recall_brings",
		"user_told", "user_of", "failed_told", "failed_of", "false_told", "outcomes_told"}}
	for _, x := range r.Rows {
		lines = append(lines, []string{cell(x.Session), itoa(x.Window), cell(x.Policy), strconv.FormatBool(x.Reference), itoa(x.Calls),
			dollars(x.Cost), dollars(x.RawCost), dollars(x.SummaryCost), dollars(x.Money.Cached), dollars(x.Money.Written), dollars(x.Money.Fresh), dollars(x.Money.Output),
			itoa(x.Usage.Cached), itoa(x.Usage.Written), itoa(x.Usage.Fresh), itoa(x.Usage.Output), itoa(x.Largest),
			itoa(x.Over), itoa(x.Refused), itoa(x.Compactions), itoa(x.Changed), itoa(x.Sent), itoa(x.Needed), itoa(x.Held), recalled(&x),
			itoa(x.Told.User), itoa(x.Told.UserOf), itoa(x.Told.Failed), itoa(x.Told.FailedOf), itoa(x.Told.False), itoa(x.Told.Stated)})
	}
	return out.WriteAll(lines)
}

// recalled is empty if the policy has no recall.
func recalled(r *Row) string {
	if !r.Recalls {
		return ""
	}
	return itoa(r.Recalled)
}

func itoa(n int) string { return strconv.Itoa(n) }

func dollars(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
