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
	return &plot{width: width, height: height, left: 62, right: 16, top: 30, low: 48}
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
	for _, v := range ticks(p.minX, p.maxX, int(p.width/100)) {
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
func (p *plot) svg(class, title string) string {
	return fmt.Sprintf(`<svg class="%s" viewBox="0 0 %.0f %.0f" role="group" aria-label="%s">%s</svg>`, class, p.width, p.height, html.EscapeString(title), p.b.String())
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

// colors is how many the page has for lines and points.
const colors = 10

func percent(v float64) string { return fmt.Sprintf("%.4g %%", 100*v) }
