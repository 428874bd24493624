package replay

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/agentcompact/compact/internal/chart"
	"github.com/agentcompact/compact/policy"
)

// curves draws the tokens of each call of one session, one line per policy.
// Compactions are marked; a mark links to the description of the compaction if
// the page has one.
func curves(rows []*Row, index map[string]int, class string, width, height float64, link func(r *Row, call int) string) string {
	p := newPlot(width, height)
	p.MinX = 1
	for _, r := range rows {
		p.MaxX = math.Max(p.MaxX, float64(len(r.Points)))
		p.MaxY = math.Max(p.MaxY, float64(r.Largest))
	}
	p.Axes("call", "tokens of the prompt", func(v float64) string { return fmt.Sprintf("%.0f", v) }, func(v float64) string { return thousands(int(v)) })
	if w := float64(rows[0].Window); w <= p.MaxY {
		p.Add(`<g><line class="window" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><title>the window, %s tokens</title></g>`, p.Left, p.Y(w), p.Width-p.Right, p.Y(w), thousands(rows[0].Window))
	}
	for _, r := range rows {
		p.curve(r, index[r.Policy]%chart.Colors, link)
	}
	return p.SVG(class, "Tokens of each call of "+rows[0].Session)
}

func (p *plot) curve(r *Row, color int, link func(r *Row, call int) string) {
	class := ""
	if r.Reference {
		class = " reference"
	}
	p.Add(`<g class="curve c%d%s" data-policy="%s"><polyline points="`, color, class, html.EscapeString(r.Policy))
	for i, at := range r.Points {
		p.Add("%.1f,%.1f", p.X(float64(i+1)), p.Y(float64(at.Tokens)))
	}
	p.Add(`"><title>%s</title></polyline>`, html.EscapeString(r.Policy))
	for i := range r.Points {
		if at := &r.Points[i]; at.Compacted || at.Refused {
			p.mark(at, i+1, r, link(r, i+1))
		}
	}
	p.Add(`</g>`)
}

func (p *plot) mark(at *Point, call int, r *Row, link string) {
	x, y, title := p.X(float64(call)), p.Y(float64(at.Tokens)), html.EscapeString(at.sentence(call, r))
	if link == "" {
		p.Add(`<circle class="mark" tabindex="0" cx="%.1f" cy="%.1f" r="4.5"><title>%s</title></circle>`, x, y, title)
		return
	}
	p.Add(`<a href="#%s" class="mark"><title>%s</title><circle cx="%.1f" cy="%.1f" r="4.5"/></a>`, link, title, x, y)
}

// sentence describes the effect of a call, and the reason.
func (at *Point) sentence(call int, r *Row) string {
	switch {
	case at.Refused:
		return fmt.Sprintf("%s, call %d: no view fits: %s", r.Policy, call, at.Reason)
	case at.Change == nil:
		return fmt.Sprintf("%s, call %d: %s tokens (%s)", r.Policy, call, thousands(at.Tokens), why(at.Reason))
	}
	c := at.Change
	return fmt.Sprintf("%s, call %d: %s → %s tokens. %s. Why: %s", r.Policy, call, thousands(c.Before), thousands(c.After), c.counts(), why(at.Reason))
}

// why returns the reason of a compaction in words.
func why(reason string) string {
	if words, ok := whys[reason]; ok {
		return words
	}
	return reason
}

// whys are the reasons for a compaction in words.
var whys = map[string]string{
	"usage":                     "the prompt reached the trigger",
	"usage_pct >= trigger_pct":  "the prompt reached the trigger",
	"t_est >= budget":           "the prompt reached the budget",
	"bytes > max_request_bytes": "the request was larger than the provider accepts",
	"economic":                  "prices made it pay",
	"manual":                    "it was requested",
	"at_arrival":                "results were reduced on arrival",
	"every_call":                "the policy works on every call",
}

// counts describes the numbers of messages by decision.
func (c *Change) counts() string {
	var out []string
	for _, d := range []policy.Decision{policy.Summarized, policy.Dropped, policy.Masked, policy.Truncated} {
		if n := c.Counts[d.String()]; n > 0 {
			out = append(out, fmt.Sprintf("%s %s", counted(n, "message"), d))
		}
	}
	if len(out) == 0 {
		return c.Stage
	}
	return strings.Join(out, ", ")
}

// A diffLine is a line of the description of a compaction: "-", "+" or " ".
type diffLine struct{ Sign, Text string }

// diff describes a compaction in the form of a diff.
func (c *Change) diff() []diffLine {
	var out []diffLine
	next := 0
	for _, l := range c.Lines {
		if n := l.Index - next; n > 0 {
			out = append(out, diffLine{" ", counted(n, "message") + " as before"})
		}
		next = l.Index + 1
		out = append(out, diffLine{"-", fmt.Sprintf("%d %s, %s tokens: %s", l.Index+1, l.Role, thousands(l.Before), l.Words)})
		if l.Now != "" {
			out = append(out, diffLine{"+", fmt.Sprintf("%d %s, %s tokens, %s: %s", l.Index+1, l.Role, thousands(l.After), l.Decision, l.Now)})
		}
	}
	if c.More > 0 {
		out = append(out, diffLine{" ", fmt.Sprintf("and %s more that changed", counted(c.More, "message"))})
	}
	if c.Summary != "" {
		for line := range strings.Lines(c.Summary) {
			out = append(out, diffLine{"+", strings.TrimRight(line, "\n")})
		}
	}
	return out
}
