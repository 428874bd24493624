package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/fold"
)

// writeWhere prints where the prompts' tokens come from, how they are used, and
// the decisions on the missing identifiers.
func writeWhere(b *strings.Builder, own []Total) {
	for i := range own {
		if t := &own[i]; len(t.Standing) > 0 {
			t.writeStanding(b)
			t.writeLost(b)
		}
	}
}

// writeStanding prints a line per kind: its share of all prompt tokens, by age,
// and the number of needed identifiers per million of its tokens.
func (t *Total) writeStanding(b *strings.Builder) {
	fmt.Fprintf(b, "\n  the text in the prompts of %s, by kind and by age in turns:\n  its share of all tokens, and needed identifiers in a million of its tokens\n\n", t.label())
	head := []string{"kind", "tokens", "used"}
	for k, a := range ages {
		head = append(head, aged(k, a))
	}
	rows, all := [][]string{head}, 0
	kinds := map[string]Standing{}
	for _, s := range t.Standing {
		all += s.Tokens
		k := kinds[s.Kind]
		kinds[s.Kind] = Standing{Kind: s.Kind, Tokens: k.Tokens + s.Tokens, Used: k.Used + s.Used}
	}
	for _, k := range bySize(kinds, func(s Standing) int { return s.Tokens }) {
		row := []string{k, share(kinds[k].Tokens, all), density(kinds[k])}
		for _, a := range ages {
			cell := "–"
			if at := slices.IndexFunc(t.Standing, func(s Standing) bool { return s.Kind == k && s.Age == a }); at >= 0 && k != "summaries" {
				cell = share(t.Standing[at].Tokens, all) + " " + density(t.Standing[at])
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	fold.Table(b, "  ", rows, nil)
}

// writeLost prints the decisions on the missing identifiers, and their numbers
// by kind, age and form.
func (t *Total) writeLost(b *strings.Builder) {
	if len(t.Lost) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  needed identifiers that are missing in the prompts of %s: %s,\n  by the newest message that had them\n\n", t.label(), thousands(t.Kept.Missing()))
	rows := [][]string{{"", "missing", "of needed"}}
	for _, by := range []func(l Loss) string{
		func(l Loss) string { return l.Fate },
		func(l Loss) string { return l.Kind },
		func(l Loss) string { k := slices.Index(ages[:], l.Age); return aged(k, l.Age) + " turns old" },
		func(l Loss) string { return "a " + l.Form },
	} {
		sums := map[string]int{}
		for _, l := range t.Lost {
			sums[by(l)] += l.Missing
		}
		for _, k := range bySize(sums, func(n int) int { return n }) {
			rows = append(rows, []string{k, share(sums[k], t.Kept.Missing()), share(sums[k], t.Kept.Needed)})
		}
		rows = append(rows, []string{"", "", ""})
	}
	fold.Table(b, "  ", rows[:len(rows)-1], nil)
}

// bySize returns the keys of a map, largest values first.
func bySize[T any](of map[string]T, size func(T) int) []string {
	var keys []string
	for k := range of {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if d := size(of[b]) - size(of[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return keys
}

// aged names a class of age.
func aged(k, from int) string {
	if k == len(ages)-1 {
		return fmt.Sprintf("%d+", from)
	}
	return fmt.Sprintf("%d-%d", from, ages[k+1]-1)
}

func share(part, all int) string {
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(max(all, 1)))
}

func density(s Standing) string {
	return fmt.Sprintf("%.0f", 1e6*float64(s.Used)/float64(max(s.Tokens, 1)))
}
