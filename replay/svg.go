package replay

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The charts are drawn by hand: the libraries that draw in Go either need a
// script from a network (go-echarts), or fix colors and fonts in the picture
// (gonum/plot, go-chart), so that one page can't be light and dark and be read
// by a keyboard. What is needed here is two axes, points and lines.

// A plot maps values to a box of pixels.
type plot struct {
	b                     strings.Builder
	width, height         float64
	left, right, top, low float64 // margins
	minX, maxX            float64
	minY, maxY            float64
}

func newPlot(width, height float64) *plot {
	return &plot{width: width, height: height, left: 62, right: 16, top: 30, low: 40}
}

func (p *plot) x(v float64) float64 {
	return p.left + (v-p.minX)/math.Max(p.maxX-p.minX, 1e-12)*(p.width-p.left-p.right)
}

func (p *plot) y(v float64) float64 {
	return p.height - p.low - (v-p.minY)/math.Max(p.maxY-p.minY, 1e-12)*(p.height-p.top-p.low)
}

func (p *plot) add(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// axes draws both axes with their ticks.
func (p *plot) axes(nameX, nameY string, labelX, labelY func(float64) string) {
	for _, v := range ticks(p.minX, p.maxX, 6) {
		p.add(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, p.x(v), p.top, p.x(v), p.height-p.low)
		p.add(`<text class="tick" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, p.x(v), p.height-p.low+16, html.EscapeString(labelX(v)))
	}
	for _, v := range ticks(p.minY, p.maxY, 5) {
		p.add(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, p.left, p.y(v), p.width-p.right, p.y(v))
		p.add(`<text class="tick" text-anchor="end" x="%.1f" y="%.1f">%s</text>`, p.left-6, p.y(v)+4, html.EscapeString(labelY(v)))
	}
	p.add(`<text class="name" text-anchor="end" x="%.1f" y="%.1f">%s</text>`, p.width-p.right, p.height-6, html.EscapeString(nameX))
	p.add(`<text class="name" x="4" y="14">%s</text>`, html.EscapeString(nameY))
}

// svg returns the picture, with a text for who can't see it.
func (p *plot) svg(title string) string {
	return fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s</svg>`, p.width, p.height, html.EscapeString(title), p.b.String())
}

// ticks returns round values between two bounds, about n of them.
func ticks(low, high float64, n int) []float64 {
	if !(high > low) {
		return []float64{low}
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*m) <= float64(n) {
			step *= m
			break
		}
	}
	var out []float64
	for v := math.Ceil(low/step-1e-9) * step; v <= high+step*1e-9; v += step {
		out = append(out, v)
	}
	return out
}

// scatter draws cost against what was kept: one point a policy, with its
// intervals. Left and up is better.
func scatter(list []Total) string {
	p := newPlot(860, 420)
	p.minX, p.maxX, p.minY, p.maxY = math.Inf(1), 1, math.Inf(1), 1
	for _, t := range list {
		p.minX, p.maxX = math.Min(p.minX, t.OfRaw.Low), math.Max(p.maxX, t.OfRaw.High)
		p.minY = math.Min(p.minY, t.Held.Low)
	}
	pad := 0.04 * (p.maxX - p.minX)
	p.minX, p.maxX = math.Max(p.minX-pad, 0), p.maxX+pad
	p.minY -= math.Max(0.06*(1-p.minY), 0.002)
	p.axes("cost, of sending everything", "needed at use", percent, percent)
	for i, t := range list {
		class := fmt.Sprintf("c%d", i%colors)
		if t.Reference {
			class += " reference"
		}
		x, y := p.x(t.OfRaw.Value), p.y(t.Held.Value)
		p.add(`<g class="point %s" tabindex="0"><title>%s</title>`, class, html.EscapeString(t.sentence()))
		p.add(`<line class="range" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, p.x(t.OfRaw.Low), y, p.x(t.OfRaw.High), y)
		p.add(`<line class="range" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, p.y(t.Held.Low), x, p.y(t.Held.High))
		p.add(`<circle cx="%.1f" cy="%.1f" r="6"/>`, x, y)
		anchor, dx := "start", 10.0
		if x > p.width*0.75 {
			anchor, dx = "end", -10
		}
		p.add(`<text class="label" text-anchor="%s" x="%.1f" y="%.1f">%s</text></g>`, anchor, x+dx, y-9, html.EscapeString(t.label()))
	}
	return p.svg("Cost against needed at use, one point a policy")
}

// colors is how many the page has for lines and points.
const colors = 8

func (t *Total) sentence() string {
	return fmt.Sprintf("%s: costs %.1f %% of raw %s, %.1f %% of what was needed is in view %s, %d calls above the window, %d compactions",
		t.label(), 100*t.OfRaw.Value, t.OfRaw.span(), 100*t.Held.Value, t.Held.span(), t.Over, t.Compactions)
}

func percent(v float64) string { return fmt.Sprintf("%.4g %%", 100*v) }

// curves draws the tokens of each call of one session, a line a policy.
// Compactions are marked.
func curves(rows []*Row, index map[string]int) string {
	p := newPlot(860, 260)
	p.minX = 1
	for _, r := range rows {
		p.maxX = math.Max(p.maxX, float64(len(r.Points)))
		p.maxY = math.Max(p.maxY, float64(r.Largest))
	}
	p.axes("call", "tokens", func(v float64) string { return fmt.Sprintf("%.0f", v) }, func(v float64) string { return thousands(int(v)) })
	if w := float64(rows[0].Window); w <= p.maxY {
		p.add(`<line class="window" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"><title>the window, %s tokens</title></line>`, p.left, p.y(w), p.width-p.right, p.y(w), thousands(rows[0].Window))
	}
	for _, r := range rows {
		p.curve(r, index[r.Policy])
	}
	return p.svg("Tokens of each call of " + rows[0].Session)
}

func (p *plot) curve(r *Row, color int) {
	p.add(`<g class="curve c%d" data-policy="%s"><polyline points="`, color%colors, html.EscapeString(r.Policy))
	for i, at := range r.Points {
		p.add("%.1f,%.1f", p.x(float64(i+1)), p.y(float64(at.Tokens)))
	}
	p.add(`"><title>%s</title></polyline>`, html.EscapeString(r.Policy))
	for i, at := range r.Points {
		if !at.Compacted && !at.Refused {
			continue
		}
		p.add(`<circle tabindex="0" cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle>`, p.x(float64(i+1)), p.y(float64(at.Tokens)), html.EscapeString(at.sentence(i, r)))
	}
	p.add(`</g>`)
}

// sentence says what happened at a call.
func (at *Point) sentence(i int, r *Row) string {
	switch {
	case at.Refused:
		return fmt.Sprintf("%s, call %d: no view fits: %s", r.Policy, i+1, at.Reason)
	case at.Change == nil:
		return fmt.Sprintf("%s, call %d: %s tokens (%s)", r.Policy, i+1, thousands(at.Tokens), at.Reason)
	}
	c := at.Change
	return fmt.Sprintf("%s, call %d: %s, %s → %s tokens, %d messages (%s)", r.Policy, i+1, c.Stage, thousands(c.Before), thousands(c.After), len(c.Lines)+c.More, at.Reason)
}
