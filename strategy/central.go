package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
)

// central is the title of the list of identifiers that matter most. It is the
// memory of rolling summaries: what it holds is carried from each summary into
// the next, oldest first, so that what the first one found important is still
// named by the twentieth.
const central = "Central"

// Shares of the limit that the list may take: less in a first summary, so that
// what its sentences name can join later.
const (
	firstCentralShare = 0.2
	laterCentralShare = 0.25
)

// centralOf chooses the list: what the list before held, what the sentences
// before named, then the most salient identifiers.
func centralOf(x *Index, previous Document, limit int, count func(string) int) []*Entity {
	share := firstCentralShare
	if !previous.empty() {
		share = laterCentralShare
	}
	room := int(float64(limit)*share) - count("- "+central+":\n")
	var out []*Entity
	taken := map[*Entity]bool{}
	take := func(e *Entity) {
		if e == nil || taken[e] {
			return
		}
		if cost := count(" " + e.Text); cost <= room {
			room -= cost
			taken[e] = true
			out = append(out, e)
		}
	}
	listed, said := previous.carriedNames()
	for _, s := range append(listed, said...) {
		take(x.Lookup(s))
	}
	for _, e := range x.Top(salient) {
		if e.central() {
			take(e)
		}
	}
	return out
}

// central reports whether an identifier may be central: not the name of a
// tool, and no number that nobody ever mentioned, such as an offset.
func (e *Entity) central() bool {
	return !e.Tool && (e.Kind != ident.Number || e.Count[Told]+e.Count[Said] > 0)
}

// carriedNames returns the identifiers of the list of central ones, and those
// that the sentences of the sections name, in order.
func (d Document) carriedNames() (listed, said []string) {
	d.all(func(lines []string) []string {
		for _, l := range lines {
			into := &said
			switch {
			case strings.HasPrefix(l, central+": "), changedList(l):
				into = &listed
			case listing(l):
				continue
			}
			identifiers(l, func(_ ident.Kind, s string) { *into = append(*into, s) })
		}
		return lines
	})
	return listed, said
}
