package replay

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"thousands": thousands,
	"whole":     func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) },
	"share":     func(i Interval) string { return fmt.Sprintf("%.1f %% %s", 100*i.Value, i.span()) },
}).Parse(pageSource))

// WriteHTML writes the report as one page that needs no network: cost against
// what was kept, the table, and for each session the curve of its calls and
// what compactions did. command is the line that makes it again. The error is
// the writer's.
func (r *Report) WriteHTML(w io.Writer, command string) error {
	return page.Execute(w, pageData{Report: r, Command: command, Prices: r.cardName(), Windows: r.byWindow()})
}

type pageData struct {
	*Report
	Command, Prices string
	Windows         []windowData
}

type windowData struct {
	Window   int
	Totals   []Total
	Scatter  template.HTML
	Sessions []sessionData
}

type sessionData struct {
	Name    string
	Curves  template.HTML
	Rows    []*Row
	Changes []changeData
}

type changeData struct {
	Policy string
	Call   int
	*Change
}

// maxChanges is how many compactions of a session the page shows in full.
const maxChanges = 3

func (r *Report) byWindow() []windowData {
	var out []windowData
	index := map[string]int{}
	for i, p := range r.options.Policies {
		index[p.Name()] = i
	}
	for _, window := range r.options.Windows {
		d := windowData{Window: window}
		for _, t := range r.Totals {
			if t.Window == window {
				d.Totals = append(d.Totals, t)
			}
		}
		if len(d.Totals) == 0 {
			continue
		}
		d.Scatter = template.HTML(scatter(d.Totals)) //nolint:gosec // made above, its texts escaped
		d.Sessions = r.sessionsAt(window, index)
		out = append(out, d)
	}
	return out
}

func (r *Report) sessionsAt(window int, index map[string]int) []sessionData {
	var names []string
	rows := map[string][]*Row{}
	for i := range r.Rows {
		x := &r.Rows[i]
		if x.Window != window {
			continue
		}
		if !slices.Contains(names, x.Session) {
			names = append(names, x.Session)
		}
		rows[x.Session] = append(rows[x.Session], x)
	}
	out := make([]sessionData, len(names))
	for i, name := range names {
		out[i] = sessionData{Name: name, Rows: rows[name], Curves: template.HTML(curves(rows[name], index))} //nolint:gosec // as above
		for _, x := range rows[name] {
			out[i].Changes = append(out[i].Changes, changesOf(x)...)
		}
	}
	return out
}

// changesOf returns the first compactions of a row that say what they did.
func changesOf(r *Row) []changeData {
	var out []changeData
	for i, at := range r.Points {
		if at.Change != nil && len(out) < maxChanges {
			out = append(out, changeData{r.Policy, i + 1, at.Change})
		}
	}
	return out
}
