package ariadnetest

import (
	"cmp"
	"slices"
)

// siblings reports siblings that start in the same millisecond: the page shows
// them in reverse.
func (v *viewer) siblings(w *viewer) {
	spans := slices.Clone(v.spans)
	slices.SortFunc(spans, func(a, b drawnPlace) int {
		return cmp.Or(cmp.Compare(a.trace, b.trace), cmp.Compare(a.parent, b.parent), cmp.Compare(a.start, b.start))
	})
	for i := 1; i < len(spans); i++ {
		a, b := spans[i-1], spans[i]
		if a.trace == b.trace && a.parent == b.parent && a.start == b.start && a.id != b.id {
			w.add("spans %s %q and %s %q of trace %s start in the same millisecond",
				v.spelled(a.id), v.byName[a.name], v.spelled(b.id), v.byName[b.name], v.byIndex[b.trace])
		}
	}
}

// place identifies a span by its trace and its id.
type place struct {
	trace uint32
	id    uint64
}

// families checks spans against their parents.
func (v *viewer) families(w *viewer) {
	byID := make(map[place]int, len(v.spans)) // index in v.spans
	for i, s := range v.spans {
		byID[place{s.trace, s.id}] = i
	}
	for i, s := range v.spans {
		p, found := byID[place{s.trace, s.parent}]
		switch {
		case s.parent == 0:
		case !found && v.foreign[[2]string{v.byIndex[s.trace], v.spelled(s.parent)}]:
		case !found:
			w.add("span %s %q: its parent %s is not in trace %s", v.spelled(s.id), v.byName[s.name], v.spelled(s.parent), v.byIndex[s.trace])
		case v.inCycle(byID, i):
			w.add("span %s %q is its own ancestor, and invisible", v.spelled(s.id), v.byName[s.name])
		case v.spans[p].end <= s.end:
			w.add("span %s %q ends at or after its parent %q (%d, %d)",
				v.spelled(s.id), v.byName[s.name], v.byName[v.spans[p].name], s.end, v.spans[p].end)
		}
	}
}

// inCycle reports whether the chain of parents of a span has no end.
func (v *viewer) inCycle(byID map[place]int, at int) bool {
	for range v.spans {
		next, found := byID[place{v.spans[at].trace, v.spans[at].parent}]
		if !found {
			return false
		}
		at = next
	}
	return true
}

// rows checks traces: they need a label, and must end after their roots.
func (v *viewer) rows(w *viewer) {
	for id, r := range v.traces {
		switch {
		case !r.first && !v.hasForeign(id):
			w.add("trace %s has no trace event: it is in no group, and its id is its name", id)
		case r.first && !r.labeled:
			w.add("trace %s is in a group without a label", id)
		}
	}
	for _, s := range v.spans {
		if r := v.traces[v.byIndex[s.trace]]; r.end != 0 && s.parent == 0 && s.end >= r.end {
			w.add("span %s %q ends at or after its trace %s", v.spelled(s.id), v.byName[s.name], v.byIndex[s.trace])
		}
	}
}

func (v *viewer) hasForeign(trace string) bool {
	for key := range v.foreign {
		if key[0] == trace {
			return true
		}
	}
	return false
}
