package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
)

// salient is how many of the highest-ranked identifiers a summary should
// name: retention is measured on them.
const salient = 40

// groupsOfKinds are the titles under which references are listed, in order.
var groupsOfKinds = []struct {
	title string
	kinds []ident.Kind
}{
	{"Files", []ident.Kind{ident.Path, ident.File}},
	{"Symbols", []ident.Kind{ident.Camel, ident.Pascal, ident.Snake, ident.Member}},
	{"Ids", []ident.Kind{ident.Hex, ident.Ticket, ident.Code, ident.Email}},
	{"URLs", []ident.Kind{ident.URL}},
	{"Numbers", []ident.Kind{ident.Number, ident.Version}},
}

// groupOf returns the title under which an identifier is listed.
func groupOf(k ident.Kind) string {
	for _, g := range groupsOfKinds {
		if slices.Contains(g.kinds, k) {
			return g.title
		}
	}
	return "Other"
}

// namesIn collects the identifiers that a document names.
func namesIn(d Document) map[string]bool {
	out := map[string]bool{}
	d.all(func(lines []string) []string {
		for _, l := range lines {
			identifiers(l, func(_ ident.Kind, s string) { out[s] = true })
		}
		return lines
	})
	return out
}

// retention is the share of the most salient identifiers that d names; 1 when
// there are none.
func retention(d Document, x *Index) float64 {
	top := x.Top(salient)
	if len(top) == 0 {
		return 1
	}
	have, n := namesIn(d), 0
	for _, e := range top {
		if have[e.Text] {
			n++
		}
	}
	return float64(n) / float64(len(top))
}

// fit shortens a document until it costs at most limit tokens: references
// first from their end, then the last lines of the longest section.
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

// shorten removes what is missed least.
func (d *Document) shorten() {
	if n := len(d.References); n > 0 {
		if cut := strings.LastIndexByte(d.References[n-1], ' '); cut > 0 {
			d.References[n-1] = d.References[n-1][:cut]
		} else {
			d.References = d.References[:n-1]
		}
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
