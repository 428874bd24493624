package replay

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentcompact/compact/internal/chart"
)

var (
	//go:embed page.html
	pageSource string
)

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"thousands": thousands,
		"kilo":      kilo,
		"whole":     func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) },
		"style":     func() template.CSS { return template.CSS(chart.Style) }, //nolint:gosec // a file of this package
		"script":    func() template.JS { return template.JS(chart.Script) },  //nolint:gosec // as above
		"shown":     shown,
		"sentences": sentences,
		"list":      func(s []string) string { return strings.Join(s, "; ") },
		"value":     func(i *Interval) float64 { return valueOr(i, -1) },
	}).Parse(pageSource))
})

// WriteHTML writes the report as one page that needs no network: a chart of cost
// against the kept share, the tables, and for each session the curve of its calls and
// its compactions. The page shows command as the command line that wrote it. The error
// is the writer's.
func (r *Report) WriteHTML(w io.Writer, command string) error {
	d := pageData{Report: r, Command: command, Prices: r.cardName(), Replayed: r.replayed(), Counted: countedBy(r.Model), index: map[string]int{}}
	for i, p := range r.options.Policies {
		d.index[p.Name()] = i
	}
	for _, window := range r.options.Windows {
		if own := r.totalsAt(window); len(own) > 0 {
			d.Windows = append(d.Windows, d.window(window, own))
		}
	}
	return page().Execute(w, d)
}

type pageData struct {
	*Report
	Command, Prices, Replayed, Counted string
	Windows                            []windowData
	index                              map[string]int // index of each policy, which is its color
}

type windowData struct {
	Window       int
	Totals       []totalData
	Verdict      *verdict
	Wide, Narrow template.HTML
	Sessions     []sessionData
}

type totalData struct {
	*Total
	Color int
}

type sessionData struct {
	Name    string
	Calls   int
	Raw     float64
	Wide    template.HTML
	Narrow  template.HTML
	Rows    []rowData
	Changes []changeData
}

type rowData struct {
	*Row
	Color int
}

type changeData struct {
	ID, Policy string
	Call       int
	Why        string
	What       string
	Diff       []diffLine
	*Change
}

// maxChanges is the number of compactions per session and policy that the page
// shows in full.
const maxChanges = 3

func (d *pageData) window(window int, own []Total) windowData {
	w := windowData{
		Window: window, Verdict: verdictOf(own, d.Report.Sessions), Sessions: d.sessionsAt(window),
		Wide:   template.HTML(scatter(own, d.index, "wide", 900, 420)),   //nolint:gosec // made here, its texts escaped
		Narrow: template.HTML(scatter(own, d.index, "narrow", 400, 520)), //nolint:gosec // as above
	}
	for i := range own {
		w.Totals = append(w.Totals, totalData{&own[i], d.index[own[i].Policy] % chart.Colors})
	}
	return w
}

func (d *pageData) sessionsAt(window int) []sessionData {
	var names []string
	rows := map[string][]*Row{}
	for i := range d.Rows {
		if x := &d.Rows[i]; x.Window == window {
			if rows[x.Session] == nil {
				names = append(names, x.Session)
			}
			rows[x.Session] = append(rows[x.Session], x)
		}
	}
	folder := commonFolder(names)
	out := make([]sessionData, len(names))
	for i, name := range names {
		out[i] = d.session(strings.TrimPrefix(name, folder), fmt.Sprintf("w%d-s%d", window, i+1), rows[name])
	}
	return out
}

func (d *pageData) session(name, id string, rows []*Row) sessionData {
	s := sessionData{Name: name, Calls: rows[0].Calls, Raw: rows[0].RawCost}
	for _, x := range rows {
		s.Rows = append(s.Rows, rowData{x, d.index[x.Policy] % chart.Colors})
		s.Changes = append(s.Changes, changesOf(x, fmt.Sprintf("%s-p%d", id, d.index[x.Policy]))...)
	}
	link := func(r *Row, call int) string {
		i := slices.IndexFunc(s.Changes, func(c changeData) bool { return c.Policy == r.Policy && c.Call == call })
		if i < 0 {
			return ""
		}
		return s.Changes[i].ID
	}
	s.Wide = template.HTML(curves(rows, d.index, "wide", 860, 280, link))     //nolint:gosec // as above
	s.Narrow = template.HTML(curves(rows, d.index, "narrow", 400, 320, link)) //nolint:gosec // as above
	return s
}

// changesOf returns the first compactions of a row that have a description.
func changesOf(r *Row, id string) []changeData {
	var out []changeData
	for i := range r.Points {
		if at := &r.Points[i]; at.Change != nil && len(out) < maxChanges {
			out = append(out, changeData{
				ID: fmt.Sprintf("%s-c%d", id, i+1), Policy: r.Policy, Call: i + 1, Why: why(at.Reason),
				What: at.Change.counts(), Diff: at.Change.diff(), Change: at.Change,
			})
		}
	}
	return out
}

// commonFolder returns the folder that all paths share, with a slash at its
// end.
func commonFolder(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	folder := filepath.Dir(paths[0]) + string(filepath.Separator)
	for _, p := range paths {
		for !strings.HasPrefix(p, folder) {
			if folder = filepath.Dir(strings.TrimSuffix(folder, string(filepath.Separator))) + string(filepath.Separator); len(folder) <= 2 {
				return ""
			}
		}
	}
	return folder
}
