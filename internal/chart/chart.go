// Package chart draws the lines and points on the pages of replay and serve, and
// holds their common style and script.
package chart

import (
	_ "embed"
	"fmt"
	"html"
	"math"
	"strings"
)

// This package uses no chart library, because the chart libraries for Go either load a script from a network
// (go-echarts), or fix colors and fonts in the picture (gonum/plot, go-chart). With the latter, a
// page could not have a light and a dark form, and could not be used with a keyboard. These pages
// need only two axes, points and lines.

var (
	// Style is the CSS of a page.
	//go:embed page.css
	Style string
	// Script is the JavaScript of a page: sortable tables, tooltips of points, and marks
	// that link to their rows.
	//go:embed page.js
	Script string
)

// Colors is the number of colors for lines and points: classes c0 to c9.
const Colors = 10

// A Plot maps values to pixels.
type Plot struct {
	Width, Height         float64 // pixels
	Left, Right, Top, Low float64 // margins
	MinX, MaxX            float64 // of the values
	MinY, MaxY            float64

	b strings.Builder
}

// New returns a plot of the given size in pixels, for values from 0.
func New(width, height float64) *Plot {
	return &Plot{Width: width, Height: height, Left: 62, Right: 16, Top: 30, Low: 48}
}

// X returns the position of a value, in pixels from the left.
func (p *Plot) X(v float64) float64 {
	return p.Left + (v-p.MinX)/math.Max(p.MaxX-p.MinX, 1e-12)*(p.Width-p.Left-p.Right)
}

// Y returns the position of a value, in pixels from the top.
func (p *Plot) Y(v float64) float64 {
	return p.Height - p.Low - (v-p.MinY)/math.Max(p.MaxY-p.MinY, 1e-12)*(p.Height-p.Top-p.Low)
}

// Add adds a line of SVG.
func (p *Plot) Add(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// Axes draws both axes with their ticks.
func (p *Plot) Axes(nameX, nameY string, labelX, labelY func(float64) string) {
	for _, v := range ticks(p.MinX, p.MaxX, int(p.Width/100)) {
		p.Add(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, p.X(v), p.Top, p.X(v), p.Height-p.Low)
		p.Add(`<text class="tick" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, p.X(v), p.Height-p.Low+16, html.EscapeString(labelX(v)))
	}
	for _, v := range ticks(p.MinY, p.MaxY, 5) {
		p.Add(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, p.Left, p.Y(v), p.Width-p.Right, p.Y(v))
		p.Add(`<text class="tick" text-anchor="end" x="%.1f" y="%.1f">%s</text>`, p.Left-6, p.Y(v)+4, html.EscapeString(labelY(v)))
	}
	p.Add(`<text class="name" text-anchor="end" x="%.1f" y="%.1f">%s</text>`, p.Width-p.Right, p.Height-6, html.EscapeString(nameX))
	p.Add(`<text class="name" x="4" y="14">%s</text>`, html.EscapeString(nameY))
}

// SVG returns the picture, with a title for screen readers.
func (p *Plot) SVG(class, title string) string {
	return fmt.Sprintf(`<svg class="%s" viewBox="0 0 %.0f %.0f" role="group" aria-label="%s">%s</svg>`, class, p.Width, p.Height, html.EscapeString(title), p.b.String())
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
