package serve

import (
	"fmt"
	"html"
	"math"
	"time"

	"github.com/agentcompact/compact/internal/chart"
)

// sumChart selects the sums that a picture shows, and formats them.
type sumChart struct {
	title, axis string
	whole, sent func(liveSum) float64
	text        func(float64) string
}

var (
	tokenSums = sumChart{"Tokens of prompts so far", "tokens so far",
		func(s liveSum) float64 { return float64(s.History) }, func(s liveSum) float64 { return float64(s.Sent) }, briefly}
	moneySums = sumChart{"What the prompts cost so far", "US dollars so far",
		func(s liveSum) float64 { return s.Without }, func(s liveSum) float64 { return s.With }, func(v float64) string { return fmt.Sprintf("%.4g", math.Abs(v)) }}
)

// sums draws the sums over time: with the whole histories, and as sent.
func sums(line []liveSum, began time.Time, class string, width float64, of sumChart) string {
	if len(line) == 0 {
		return ""
	}
	p := chart.New(width, 240)
	p.Right = 34 // room for the last time label
	p.MaxX = math.Max(line[len(line)-1].At.Sub(began).Seconds(), 10)
	p.MaxY = math.Max(of.whole(line[len(line)-1]), of.sent(line[len(line)-1]))
	p.Axes("time", of.axis, func(v float64) string { return began.Add(time.Duration(v * float64(time.Second))).Format("15:04:05") }, of.text)
	draw := func(name, class string, value func(liveSum) float64) {
		p.Add(`<g class="curve %s"><polyline points="%.1f,%.1f`, class, p.X(0), p.Y(0))
		for _, s := range line {
			p.Add("%.1f,%.1f", p.X(s.At.Sub(began).Seconds()), p.Y(value(s)))
		}
		p.Add(`"><title>%s</title></polyline></g>`, name)
	}
	draw("with the whole history", "c4 reference", of.whole)
	draw("as sent", "c0", of.sent)
	return p.SVG(class, of.title)
}

// curve draws the tokens of each call of a session. A mark is a compaction.
func (s *liveSession) curve(class string, width float64) string {
	if s.Calls < 2 {
		return ""
	}
	p := chart.New(width, 220)
	p.MinX, p.MaxX = 1, float64(s.Calls)
	for _, c := range s.points {
		p.MaxY = math.Max(p.MaxY, float64(max(c.In, c.Sent)))
	}
	p.Axes("call", "tokens", whole, briefly)
	if w := float64(s.Window); w > 0 && w <= p.MaxY {
		p.Add(`<g><line class="window" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><title>the window, %s tokens</title></g>`, p.Left, p.Y(w), p.Width-p.Right, p.Y(w), thousands(s.Window))
	}
	draw := func(name, class string, value func(livePoint) int) {
		p.Add(`<g class="curve %s"><polyline points="`, class)
		for _, c := range s.points {
			p.Add("%.1f,%.1f", p.X(float64(c.Call)), p.Y(float64(value(c))))
		}
		p.Add(`"><title>%s</title></polyline></g>`, name)
	}
	draw("history", "c4 reference", func(c livePoint) int { return c.In })
	draw("sent", "c0", func(c livePoint) int { return c.Sent })
	for _, c := range s.compactions {
		p.Add(`<g class="curve c0"><circle class="mark" tabindex="0" cx="%.1f" cy="%.1f" r="4.5"><title>%s</title></circle></g>`,
			p.X(float64(c.Call)), p.Y(float64(c.After)), html.EscapeString(c.Sentence()))
	}
	return p.SVG(class, html.EscapeString("Tokens of each call of session "+s.Name))
}

// whole formats a number of calls; "" = not a whole number.
func whole(v float64) string {
	if v != math.Trunc(v) {
		return ""
	}
	return fmt.Sprintf("%.0f", v)
}

// briefly formats a number of tokens to fit beside an axis.
func briefly(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.4gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.4gk", v/1e3)
	}
	return thousands(int(v))
}

// Sentence describes a compaction.
func (c liveCompaction) Sentence() string {
	return fmt.Sprintf("call %d, %s: %s → %s tokens by %s", c.Call, c.At.Format("15:04:05"), thousands(c.Before), thousands(c.After), c.Stage)
}
