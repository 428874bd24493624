package replay

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/chart"
)

//go:embed account.html
var accountSource string

var accountPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("account").Funcs(template.FuncMap{
		"thousands": thousands,
		"style":     func() template.CSS { return template.CSS(chart.Style) }, //nolint:gosec // a file of this package
		"script":    func() template.JS { return template.JS(chart.Script) },  //nolint:gosec // likewise
		"when":      when,
		"why":       why,
		"list":      func(s []string) string { return strings.Join(s, ", ") },
		"usd":       usd,
		"tile":      tile,
		"next":      func(i int) int { return i + 1 },
		"sentences": sentences,
	}).Parse(accountSource))
})

// WriteHTML writes the account as one page that needs no network: the tokens sent over
// time, each compaction with its removed messages, recalls and errors. The page shows
// command as the command line that wrote it. The error is the writer's.
func (a *Account) WriteHTML(w io.Writer, command string) error {
	failures, over := a.Problems()
	return accountPage().Execute(w, struct {
		*Account
		Command        string
		Failures, Over int
		Wide, Narrow   template.HTML
	}{a, command, failures, over, template.HTML(a.curve("wide", 860)), template.HTML(a.curve("narrow", 380))}) //nolint:gosec // made below, its texts escaped
}

// tile returns a number in large figures with its noun. more follows the noun.
func tile(n int, what string, more ...string) template.HTML {
	number, noun, _ := strings.Cut(counted(n, what), " ")
	noun = strings.Join(append([]string{noun}, more...), " ")
	return template.HTML("<li><b>" + number + "</b> " + html.EscapeString(noun) + "</li>") //nolint:gosec // escaped
}

// when formats a time for people, in UTC.
func when(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// curve draws the tokens of the history and of the view, call by call.
func (a *Account) curve(class string, width float64) string {
	if len(a.Calls) == 0 {
		return ""
	}
	p := newPlot(width, 300)
	p.MinX, p.MaxX = 1, float64(len(a.Calls))
	for i := range a.Calls {
		p.MaxY = math.Max(p.MaxY, float64(max(a.Calls[i].In, a.Calls[i].Sent)))
	}
	p.Axes("call", "tokens", func(v float64) string { return fmt.Sprintf("%.0f", v) }, func(v float64) string { return thousands(int(v)) })
	if w := a.Window(); float64(w) <= p.MaxY && w > 0 {
		p.Add(`<g><line class="window" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><title>the window, %s tokens</title></g>`, p.Left, p.Y(float64(w)), p.Width-p.Right, p.Y(float64(w)), thousands(w))
	}
	p.tokens("c4 reference", "history", a.Calls, func(c *AccountCall) int { return c.In })
	p.tokens("c0", "sent", a.Calls, func(c *AccountCall) int { return c.Sent })
	for i := range a.Calls {
		if c := &a.Calls[i]; c.Step > 0 || c.Failed != "" {
			p.called(i, a.sentence(i), c)
		}
	}
	return p.SVG(class, "Tokens of the history and tokens sent, by call")
}

// called marks a call. The mark of a compaction links to its description.
func (p *plot) called(i int, title string, c *AccountCall) {
	x, y, class := p.X(float64(i+1)), p.Y(float64(c.Sent)), "c0"
	if c.Failed != "" {
		class = "c1"
	}
	if title = html.EscapeString(title); c.Step > 0 {
		p.Add(`<g class="curve %s"><a href="#step-%d" class="mark"><title>%s</title><circle cx="%.1f" cy="%.1f" r="4.5"/></a></g>`, class, c.Step, title, x, y)
		return
	}
	p.Add(`<g class="curve %s"><circle class="mark" tabindex="0" cx="%.1f" cy="%.1f" r="4.5"><title>%s</title></circle></g>`, class, x, y, title)
}

// tokens draws a line through the calls. A failed call has no point on the
// line.
func (p *plot) tokens(class, name string, calls []AccountCall, of func(*AccountCall) int) {
	p.Add(`<g class="curve %s"><polyline points="`, class)
	for i := range calls {
		if calls[i].Failed == "" {
			p.Add("%.1f,%.1f", p.X(float64(i+1)), p.Y(float64(of(&calls[i]))))
		}
	}
	p.Add(`"><title>%s</title></polyline></g>`, name)
}

// sentence describes a call.
func (a *Account) sentence(i int) string {
	c := &a.Calls[i]
	if c.Failed != "" {
		return fmt.Sprintf("call %d, %s: failed (%s), %s tokens", i+1, when(c.At), c.Failed, thousands(c.Sent))
	}
	for k := range a.Steps {
		if s := &a.Steps[k]; s.Step == c.Step {
			return fmt.Sprintf("call %d, %s: step %d, %s, %s → %s tokens, %d messages (%s)",
				i+1, when(c.At), s.Step, strings.Join(s.Stages, ", "), thousands(s.Before), thousands(s.After), len(s.Gone)+s.Missing, why(s.Reason))
		}
	}
	return fmt.Sprintf("call %d, %s: step %d, %s tokens", i+1, when(c.At), c.Step, thousands(c.Sent))
}
