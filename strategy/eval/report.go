package eval

import (
	"fmt"
	"io"
	"strings"
)

// A Row is the measure of one strategy or baseline, at one setting, on the
// sessions of one source.
type Row struct {
	Setting    Setting `json:"setting"`
	Name       string  `json:"name"`
	Source     string  `json:"source"`
	Sessions   int     `json:"sessions"`
	Needed     int     `json:"needed"`      // identifiers that the rest of the sessions needed
	Found      int     `json:"found"`       // of them in the view
	InSections int     `json:"in_sections"` // of them in the view without the summary's references
	Tokens     int     `json:"tokens"`      // of the summaries, all together
	Retention  float64 `json:"retention"`   // of the most salient identifiers, summed over sessions
	Invented   int     `json:"invented"`    // identifiers that the source does not have
	Failed     int     `json:"failed"`      // summaries that could not be had
}

// Recall is the share of the needed identifiers in the view.
func (r Row) Recall() float64 { return share(r.Found, r.Needed) }

// SectionRecall is Recall without references.
func (r Row) SectionRecall() float64 { return share(r.InSections, r.Needed) }

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// A Report is what [Run] measured, in the order in which settings, names and
// sources came up.
type Report struct{ Rows []Row }

// add merges rows into those of the same setting, name and source.
func (r *Report) add(rows ...Row) {
next:
	for _, row := range rows {
		for i := range r.Rows {
			if have := &r.Rows[i]; have.Setting == row.Setting && have.Name == row.Name && have.Source == row.Source {
				have.merge(row)
				continue next
			}
		}
		r.Rows = append(r.Rows, row)
	}
}

func (r *Row) merge(o Row) {
	r.Sessions += o.Sessions
	r.Needed += o.Needed
	r.Found += o.Found
	r.InSections += o.InSections
	r.Tokens += o.Tokens
	r.Retention += o.Retention
	r.Invented += o.Invented
	r.Failed += o.Failed
}

// Totals sums up the sources: one row for each setting and name.
func (r Report) Totals() []Row {
	var out Report
	for _, row := range r.Rows {
		row.Source = ""
		out.add(row)
	}
	return out.Rows
}

// Total returns the sum for one setting and name; ok is false where nothing
// was measured.
func (r Report) Total(s Setting, name string) (Row, bool) {
	for _, row := range r.Totals() {
		if row.Setting == s && row.Name == name {
			return row, true
		}
	}
	return Row{}, false
}

// Write prints the totals as a table, and where there is more than one source
// the sources as another. The error is the writer's.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Future-need recall: the share of the identifiers needed later that the view still names.\n\n")
	totals := r.Totals()
	table(&b, "", totals)
	if len(totals) < len(r.Rows) {
		b.WriteString("\nBy source\n\n")
		table(&b, "source", r.Rows)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func table(b *strings.Builder, source string, rows []Row) {
	if len(rows) == 0 {
		b.WriteString("  no session fills a window and needs what it evicted\n")
		return
	}
	fmt.Fprintf(b, "  %-10s %-20s %-16s %8s %7s %8s %12s %8s %10s %9s\n",
		"window", "summary", source, "sessions", "needed", "recall", "without refs", "tokens", "retention", "invented")
	for _, r := range rows {
		fmt.Fprintf(b, "  %-10s %-20s %-16s %8d %7d %7.1f%%", r.Setting, r.Name, r.Source, r.Sessions, r.Needed, 100*r.Recall())
		if r.Retention == 0 {
			fmt.Fprintf(b, " %12s %8d\n", "", r.Tokens/r.Sessions)
			continue
		}
		fmt.Fprintf(b, " %11.1f%% %8d %9.1f%% %9d\n", 100*r.SectionRecall(), r.Tokens/r.Sessions, 100*r.Retention/float64(r.Sessions), r.Invented)
	}
}
