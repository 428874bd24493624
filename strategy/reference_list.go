package strategy

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
)

// A reference is an identifier on its way into the references, under a title.
type reference struct {
	*Entity
	title string
}

// A lister fills the references of a document.
type lister struct {
	d        Document // without references
	strategy Strategy
	limit    int // tokens of the whole
	count    func(string) int
}

// references adds the best identifiers that d does not name, as far as the
// limit and the references' share of it allow: first the central ones, then
// the most salient, then those that are worth most per token.
func references(d *Document, s Strategy, x *Index, limit int, count func(string) int) {
	d.References = nil
	l := lister{*d, s, limit, count}
	d.References = renderReferences(l.fill(l.candidates(x)))
}

// maxReferenceCandidates bounds how many identifiers are weighed: a summary
// never names more.
const maxReferenceCandidates = 6000

// candidates returns what is not named yet, the best first.
func (l *lister) candidates(x *Index) []reference {
	have := namesIn(l.d)
	var out []reference
	add := func(e *Entity, title string) {
		if !have[e.Text] && e.worthListing() {
			have[e.Text] = true
			out = append(out, reference{e, title})
		}
	}
	for _, e := range x.carried() {
		add(e, groupOf(e.Kind))
	}
	for _, e := range x.Top(salient) {
		add(e, groupOf(e.Kind))
	}
	for _, e := range l.byWorth(x, have) {
		add(e, groupOf(e.Kind))
	}
	return out
}

// maxCarried is how many names of the summary before are listed before those
// of this history.
const maxCarried = 30

// carried returns the identifiers that the summary before named, those that it
// named first before the others.
func (x *Index) carried() []*Entity {
	var out []*Entity
	for _, e := range x.all {
		if e.Place > 0 && e.Kind != ident.Number {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *Entity) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), maxCarried)]
}

// worthListing reports whether an identifier says something where it stands
// alone: no number, no choice of words, nothing that only an output has.
func (e *Entity) worthListing() bool {
	switch e.Kind {
	case ident.Number, ident.Version, ident.Email:
		return false
	case ident.Path:
		if choice(e.Text) && e.Count[Asked] == 0 || strings.HasPrefix(e.Text, "/dev/") {
			return false
		}
	}
	return true
}

// byWorth returns the identifiers by what they are worth per token.
func (l *lister) byWorth(x *Index, have map[string]bool) []*Entity {
	rest := slices.Clone(x.Top(min(x.Len(), maxReferenceCandidates)))
	rest = slices.DeleteFunc(rest, func(e *Entity) bool { return have[e.Text] })
	worth := make(map[*Entity]float64, len(rest))
	for _, e := range rest {
		worth[e] = e.Score / float64(l.count(", "+e.Text)+1)
	}
	slices.SortStableFunc(rest, func(a, b *Entity) int { return cmp.Compare(worth[b], worth[a]) })
	return rest
}

// refills is how often the list is measured and filled up again: what its
// entries cost one by one is not what they cost together.
const refills = 4

// fill takes what fits.
func (l *lister) fill(left []reference) (taken []reference) {
	titles := map[string]bool{}
	room := l.room(nil) - l.count("\n## "+References+"\n")
	for range refills {
		before := len(taken)
		var skipped []reference
		for i, r := range left {
			if room < 1 {
				skipped = append(skipped, left[i:]...)
				break
			}
			cost := l.count(" " + r.Text)
			if !titles[r.title] {
				cost += l.count("- " + r.title + ":\n")
			}
			if cost > room {
				skipped = append(skipped, r)
				continue
			}
			room -= cost
			titles[r.title] = true
			taken = append(taken, r)
		}
		if room = l.room(taken); room < 0 {
			return l.trim(taken)
		}
		if len(taken) == before {
			break
		}
		left = skipped
	}
	return taken
}

// room is what is left beside these references, in tokens: of their share,
// and of the whole.
func (l *lister) room(taken []reference) int {
	refs := Document{References: renderReferences(taken)}
	whole := l.d
	whole.References = refs.References
	return min(int(float64(l.limit)*referenceShare)-l.cost(refs), l.limit-l.cost(whole))
}

func (l *lister) cost(d Document) int {
	if d.empty() {
		return 0
	}
	return l.count(d.Render(l.strategy))
}

// trim gives up those that were taken last, as many as it takes.
func (l *lister) trim(taken []reference) []reference {
	return taken[:sort.Search(len(taken), func(n int) bool { return l.room(taken[:n+1]) < 0 })]
}

// renderReferences lists the references under their titles.
func renderReferences(picked []reference) []string {
	names := map[string][]string{}
	for _, r := range picked {
		names[r.title] = append(names[r.title], r.Text)
	}
	var out []string
	write := func(title string) {
		if len(names[title]) > 0 {
			out = append(out, title+": "+strings.Join(names[title], " "))
		}
	}
	for _, g := range groupsOfKinds {
		write(g.title)
	}
	return out
}
