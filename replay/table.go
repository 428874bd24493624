package replay

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Write prints the totals as a table. The error is the writer's.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, tokens of %s, prices of %s\n", sessions(r.Sessions), r.Model, r.cardName())
	window := 0
	for _, t := range r.Totals {
		if t.Window != window {
			window = t.Window
			fmt.Fprintf(&b, "\nwindow %s\n\n", thousands(window))
			fmt.Fprintf(&b, "  %-24s %9s %7s %-13s %7s %-13s %6s %6s %6s %6s %6s\n",
				"policy", "cost", "of raw", "", "needed", "", "over", "refus.", "comp.", "change", "worst")
		}
		fmt.Fprintf(&b, "  %-24s %8.2f$ %6.1f%% %-13s %6.1f%% %-13s %6d %6d %6d %6.1f %5.0f%%\n",
			t.label(), t.Cost, 100*t.OfRaw.Value, t.OfRaw.span(), 100*t.Held.Value, t.Held.span(), t.Over, t.Refused, t.Compactions, t.Changed, 100*t.Worst)
	}
	b.WriteString(legend)
	_, err := io.WriteString(w, b.String())
	return err
}

const legend = `
  of raw   what the calls cost, of what they cost with the whole history
  needed   identifiers that the recorded answers use and that stand in the view
  (…)      where 95 of 100 samples of these sessions lie
  over     calls above the window    refus.  calls for which there was no view
  comp.    calls that compacted      change  changed prefixes in 100 calls
  worst    the dearest session of 15 calls or more, of its raw
  *        a reference, to compare with
`

func sessions(n int) string {
	if n == 1 {
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}

func (r *Report) cardName() string {
	c := &r.Card
	switch {
	case c.Model == "":
		return "a card of your own (" + c.Source + ")"
	case c.Relative:
		return c.Model + ", ratios only"
	}
	return fmt.Sprintf("%s (%s, %s)", c.Model, c.Source, c.Date)
}

func (t *Total) label() string {
	if t.Reference {
		return t.Policy + " *"
	}
	return t.Policy
}

// span prints the range of an interval that is a share.
func (i Interval) span() string {
	if i.Low == i.High {
		return ""
	}
	return fmt.Sprintf("(%.1f–%.1f)", 100*i.Low, 100*i.High)
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// WriteCSV writes one line a session, window and policy. The error is the
// writer's.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"session", "window", "policy", "reference", "calls", "cost_usd", "raw_cost_usd", "summary_cost_usd",
		"cached", "written", "fresh", "output", "largest_prompt", "calls_over_window", "calls_refused", "compactions", "changed_prefixes",
		"identifiers_needed", "identifiers_at_hand"}}
	for _, x := range r.Rows {
		lines = append(lines, []string{x.Session, itoa(x.Window), x.Policy, strconv.FormatBool(x.Reference), itoa(x.Calls),
			dollars(x.Cost), dollars(x.RawCost), dollars(x.SummaryCost),
			itoa(x.Usage.Cached), itoa(x.Usage.Written), itoa(x.Usage.Fresh), itoa(x.Usage.Output), itoa(x.Largest),
			itoa(x.Over), itoa(x.Refused), itoa(x.Compactions), itoa(x.Changed), itoa(x.Needed), itoa(x.Held)})
	}
	return out.WriteAll(lines)
}

func itoa(n int) string { return strconv.Itoa(n) }

func dollars(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
