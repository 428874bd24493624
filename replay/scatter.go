package replay

import (
	"fmt"
	"html"
	"math"

	"github.com/agentcompact/compact/internal/chart"
)

// scatter draws cost against the kept share: one point per policy, with its intervals.
// Points further left and higher are better. The chart fits all points, and the
// intervals of this module's policies. The intervals of references are cut at its edge.
func scatter(list []Total, index map[string]int, class string, width, height float64) string {
	p := newPlot(width, height)
	fitAxes(p, list)
	p.Axes("cost, as a share of sending everything", "needed at use", percent, percent)
	names := placer{plot: p}
	for _, t := range list {
		names.taken = append(names.taken, around(p.X(t.OfRaw.Value), p.Y(t.Held.Value), 8))
	}
	for _, t := range list {
		p.point(&t, index[t.Policy]%chart.Colors, names.place(p.X(t.OfRaw.Value), p.Y(t.Held.Value), t.mark()))
	}
	return p.SVG(class, "Cost against needed at use, one point per policy")
}

// fitAxes sets the limits of the axes. The chart contains all points, the intervals of
// this module's policies, and the point of sending everything.
func fitAxes(p *plot, list []Total) {
	p.MinX, p.MaxX, p.MinY, p.MaxY = math.Inf(1), 1, math.Inf(1), 1
	for _, t := range list {
		x, y := t.OfRaw, t.Held
		if t.Reference {
			x.Low, x.High, y.Low = x.Value, x.Value, y.Value
		}
		p.MinX, p.MaxX = math.Min(p.MinX, x.Low), math.Max(p.MaxX, x.High)
		p.MinY = math.Min(p.MinY, y.Low)
	}
	pad := 0.04 * (p.MaxX - p.MinX)
	p.MinX, p.MaxX = math.Max(p.MinX-pad, 0), p.MaxX+pad
	p.MinY -= math.Max(0.06*(1-p.MinY), 0.002)
}

func (p *plot) point(t *Total, color int, name box) {
	class := fmt.Sprintf("c%d", color)
	if t.Reference {
		class += " reference"
	}
	x, y := p.X(t.OfRaw.Value), p.Y(t.Held.Value)
	p.Add(`<g class="point %s" tabindex="0" data-policy="%s"><title>%s</title>`, class, html.EscapeString(t.Policy), html.EscapeString(t.sentence()))
	p.Add(`<line class="range" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, math.Max(p.X(t.OfRaw.Low), p.Left), y, math.Min(p.X(t.OfRaw.High), p.Width-p.Right), y)
	p.Add(`<line class="range" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, math.Min(p.Y(t.Held.Low), p.Height-p.Low), x, p.Y(t.Held.High))
	if name.isFar(y) {
		p.Add(`<line class="leader" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, y, math.Max(name.left, math.Min(x, name.right)), math.Max(name.top, math.Min(y, name.low)))
	}
	p.Add(`<circle cx="%.1f" cy="%.1f" r="6"/>`, x, y)
	p.Add(`<text class="label" x="%.1f" y="%.1f">%s</text></g>`, name.left, name.low-4, html.EscapeString(t.mark()))
}

// mark returns the name of a point. A dagger marks a policy of this module that
// leaves calls above the window, because its cost is not comparable.
func (t *Total) mark() string {
	if !t.Reference && t.Over+t.Refused > 0 {
		return t.Policy + " †"
	}
	return t.label()
}

func (t *Total) sentence() string {
	s := fmt.Sprintf("%s: costs %.1f %% of raw %s, %.1f %% of the needed identifiers in view %s, %d calls above the window, %d compactions",
		t.label(), 100*t.OfRaw.Value, t.OfRaw.Span(), 100*t.Held.Value, t.Held.Span(), t.Over, t.Compactions)
	if t.Recall != nil {
		s += fmt.Sprintf(", one recall would bring %s of the rest", t.Recall.short())
	}
	return s
}

// A box is a rectangle of the chart, in pixels.
type box struct{ left, top, right, low float64 }

func around(x, y, r float64) box { return box{x - r, y - r, x + r, y + r} }

// over returns the area in which two boxes overlap.
func (b box) over(o box) float64 {
	w := math.Min(b.right, o.right) - math.Max(b.left, o.left)
	h := math.Min(b.low, o.low) - math.Max(b.top, o.top)
	return math.Max(w, 0) * math.Max(h, 0)
}

// isFar reports whether a box is so far from a point at height y that it needs a
// connecting line.
func (b box) isFar(y float64) bool { return y < b.top-14 || y > b.low+14 }

// placer finds readable places for the names of points.
type placer struct {
	*plot
	taken []box
}

const letterWidth, letterHeight = 7.4, 16.0

// place returns the box of a name: among the places around its point, the
// nearest one with the least overlap.
func (p *placer) place(x, y float64, name string) box {
	width := letterWidth * float64(len([]rune(name)))
	best, least := box{}, math.Inf(1)
	for away := 0.0; away <= 128; away += 16 {
		for _, at := range []struct{ dx, dy float64 }{{10, -6}, {-10 - width, -6}, {10, 18}, {-10 - width, 18}, {-width / 2, -12}, {-width / 2, 24}} {
			dy := at.dy + math.Copysign(away, at.dy)
			b := box{x + at.dx, y + dy - letterHeight + 4, x + at.dx + width, y + dy + 4}
			if cost := p.cost(b) + away/100; cost < least {
				best, least = b, cost
			}
		}
	}
	p.taken = append(p.taken, best)
	return best
}

func (p *placer) cost(b box) float64 {
	all := 0.0
	for _, t := range p.taken {
		all += b.over(t)
	}
	outside := math.Max(p.Left-b.left, 0) + math.Max(b.right-p.Width, 0) + math.Max(4-b.top, 0) + math.Max(b.low-p.Height+p.Low, 0)
	return all + 100*outside
}
