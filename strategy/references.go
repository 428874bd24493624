package strategy

import (
	"github.com/agentcompact/compact/strategy/internal/ident"
)

// salient is the number of highest-ranked identifiers that a summary should name.
// retention measures the share of these identifiers in a document.
const salient = 40

// namesIn returns the identifiers that a document names.
func namesIn(d Document) map[string]bool {
	out := map[string]bool{}
	d = d.full()
	d.all(func(lines []string) []string {
		for _, l := range lines {
			identifiers(l, func(_ ident.Kind, s string) { out[s] = true })
		}
		return lines
	})
	return out
}

// retention returns the share of the salient, listable identifiers that d names. It
// returns 1 if there are no such identifiers.
func retention(d Document, x *nameIndex) float64 {
	have, n, of := namesIn(d), 0, 0
	for _, e := range x.Top(salient) {
		if !e.worthListing() {
			continue
		}
		if of++; have[e.Text] {
			n++
		}
	}
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// fit shortens a document to limit tokens. It removes references from their
// end, then all notes but one, then the last lines of the longest section.
func fit(d Document, s Strategy, limit int, count func(string) int) Document {
	if count(d.Render(s)) <= limit {
		return d
	}
	d = d.clone()
	for !d.empty() && count(d.Render(s)) > limit {
		d.shorten()
	}
	return d
}

// shorten removes the least important line.
func (d *Document) shorten() {
	if n := len(d.References); n > 0 {
		d.References = d.References[:n-1]
		return
	}
	if n := len(d.Notes); n > 1 {
		d.Notes = d.Notes[:n-1]
		return
	}
	longest := 0
	for i := range d.Sections {
		if len(d.Sections[i]) >= len(d.Sections[longest]) {
			longest = i
		}
	}
	if n := len(d.Sections[longest]); n > 0 {
		d.Sections[longest] = d.Sections[longest][:n-1]
		return
	}
	d.Notes = nil
}
