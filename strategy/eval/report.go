package eval

// A Row is the measure of one strategy or baseline, at one setting, on the
// sessions of one source.
type Row struct {
	Setting   Setting `json:"setting"`
	Name      string  `json:"name"`
	Source    string  `json:"source"`
	Sessions  int     `json:"sessions"`
	Handoff           // counts of the facts that the text states
	Needed    int     `json:"needed"`    // identifiers that the rest of the sessions needed
	Found     int     `json:"found"`     // needed identifiers in the view; only readable lines of the summary count
	Anywhere  int     `json:"anywhere"`  // needed identifiers anywhere in the view
	Tokens    int     `json:"tokens"`    // tokens of all summaries
	Retention float64 `json:"retention"` // share of the most salient identifiers, summed over sessions
	Invented  int     `json:"invented"`  // identifiers that the source lacks
	Missing   int     `json:"missing"`   // summaries that failed
}

// Recall returns the share of the needed identifiers that readable lines name.
func (r Row) Recall() float64 { return share(r.Found, r.Needed) }

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// A Report holds the rows of [Run], in the order in which settings, names and
// sources were first measured.
type Report struct {
	Rows []Row `json:"rows"`
}

// add merges each row into the row of the same setting, name and source.
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
	r.Anywhere += o.Anywhere
	r.Handoff.merge(o.Handoff)
	r.Tokens += o.Tokens
	r.Retention += o.Retention
	r.Invented += o.Invented
	r.Missing += o.Missing
}

// Totals returns the sums over all sources, one row for each setting and name.
func (r Report) Totals() []Row {
	var out Report
	for _, row := range r.Rows {
		row.Source = ""
		out.add(row)
	}
	return out.Rows
}

// Total returns the sum for one setting and name; ok is false if nothing was
// measured.
func (r Report) Total(s Setting, name string) (Row, bool) {
	for _, row := range r.Totals() {
		if row.Setting == s && row.Name == name {
			return row, true
		}
	}
	return Row{}, false
}
