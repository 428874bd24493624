package strategy

import (
	"maps"
	"slices"
	"strings"
)

// changedOps are the operations that change a file.
var changedOps = []Op{Edited, Created, Deleted}

// changedTitle is the title of the list of files that were changed in one way.
func changedTitle(op Op) string { return "Files " + op.String() }

// changedList reports whether a line is such a list.
func changedList(line string) bool {
	return slices.ContainsFunc(changedOps, func(op Op) bool { return strings.HasPrefix(line, changedTitle(op)+": ") })
}

// changed returns the files that were changed, by what was done to them, those
// of the summary before included.
func (h *History) changed() map[string]Op {
	out := map[string]Op{}
	for _, lines := range h.Previous.Sections {
		for _, l := range lines {
			for _, op := range changedOps {
				if list, ok := strings.CutPrefix(l, changedTitle(op)+": "); ok && listing(l) {
					for _, path := range strings.Fields(list) {
						out[path] = op
					}
				}
			}
		}
	}
	for _, f := range h.Files() {
		switch was, known := out[f.Path]; {
		case f.Op < Edited:
		case known && was == Created && f.Op == Edited:
		default:
			out[f.Path] = f.Op
		}
	}
	return out
}

// changedLines lists files by what was done to them: those of this history
// first, the newest before the others, then those that are carried over.
func (h *History) changedLines(section int) []Line {
	all := h.changed()
	var paths []string
	for _, f := range h.Files() {
		if _, ok := all[f.Path]; ok {
			paths = append(paths, f.Path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	out := make([]Line, len(paths))
	for i, path := range paths {
		out[i] = Line{Section: section, Group: changedTitle(all[path]), Text: path, Value: 0.02, Order: 10 - int(all[path])}
	}
	return out
}
