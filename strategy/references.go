package strategy

import (
	"cmp"
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
	{"Symbols", []ident.Kind{ident.Camel, ident.Pascal, ident.Snake}},
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

// named collects the identifiers that a document names.
func named(d Document) map[string]bool {
	out := map[string]bool{}
	d.all(func(lines []string) []string {
		for _, l := range lines {
			identifiers(l, func(_ ident.Kind, s string) { out[s] = true })
		}
		return lines
	})
	return out
}

// references adds the best identifiers that d does not name, as far as the
// limit and the references' share of it allow: first the central ones, then
// the most salient, then those that are worth most per token.
func references(d *Document, s Strategy, x *Index, first []*Entity, limit int, count func(string) int) (added int) {
	have := named(*d)
	room := min(int(float64(limit)*referenceShare), limit-count(d.Render(s))-8)
	room -= count("## " + References + "\n")
	picked := map[string][]*Entity{}
	take := func(e *Entity, g string) {
		cost := count(" " + e.Text)
		if len(picked[g]) == 0 {
			cost += count("- " + g + ":\n")
		}
		if cost > room || have[e.Text] && g != central {
			return
		}
		room -= cost
		have[e.Text] = true
		picked[g] = append(picked[g], e)
		added++
	}
	for _, e := range first {
		take(e, central)
	}
	for _, e := range x.Top(salient) {
		take(e, groupOf(e.Kind))
	}
	rest := slices.Clone(x.Top(x.Len()))
	if len(rest) > maxReferenceCandidates {
		rest = rest[:maxReferenceCandidates]
	}
	density := make(map[*Entity]float64, len(rest))
	for _, e := range rest {
		if !have[e.Text] {
			density[e] = e.Score / float64(count(", "+e.Text)+1)
		}
	}
	slices.SortStableFunc(rest, func(a, b *Entity) int { return cmp.Compare(density[b], density[a]) })
	for _, e := range rest {
		if room < 3 {
			break
		}
		take(e, groupOf(e.Kind))
	}
	d.References = renderReferences(picked)
	for len(d.References) > 0 && count(Document{References: d.References}.Render(s)) > int(float64(limit)*referenceShare) {
		d.shorten()
		added--
	}
	return added
}

// maxReferenceCandidates bounds how many identifiers are weighed: a summary
// never names more.
const maxReferenceCandidates = 6000

func renderReferences(picked map[string][]*Entity) []string {
	var out []string
	write := func(title string) {
		var names []string
		for _, e := range picked[title] {
			names = append(names, e.Text)
		}
		if len(names) > 0 {
			out = append(out, title+": "+strings.Join(names, " "))
		}
	}
	write(central)
	for _, g := range groupsOfKinds {
		write(g.title)
	}
	return out
}

// retention is the share of the most salient identifiers that d names; 1 when
// there are none.
func retention(d Document, x *Index) float64 {
	top := x.Top(salient)
	if len(top) == 0 {
		return 1
	}
	have, n := named(d), 0
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
