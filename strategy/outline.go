package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// Limits on the lines about the declarations of a file.
const (
	declaredTogether = 5 // declarations on one line
	mostDeclared     = 20
	outlineValue     = 0.1
)

// An outline holds the declarations in the parts of a file that were read.
type outline struct {
	path     string
	declared []declaredAt
	last     int // number of the step that read the file last
}

// A declaredAt is a declaration with its place: the line in the file, 0 if the result has no
// line numbers, and the index of the line in the result.
type declaredAt struct {
	kind, name string
	line, nth  int
}

// outlineLines returns lines about the declarations in the files of code that were read and not
// changed since. A successor then knows the names and where to read, without another search.
func (h *History) outlineLines(section int) []Line {
	var out []Line
	for _, o := range h.outlines() {
		best := o.declared
		slices.SortStableFunc(best, func(a, b declaredAt) int { return cmp.Compare(h.scoreOf(b.name), h.scoreOf(a.name)) })
		best = best[:min(len(best), mostDeclared)]
		for some := range slices.Chunk(best, declaredTogether) {
			slices.SortStableFunc(some, func(a, b declaredAt) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.nth, b.nth)) })
			var said []string
			for _, d := range some {
				said = append(said, d.String())
			}
			out = append(out, Line{Section: section, Text: "`" + o.path + "`" + declaresVerb + strings.Join(said, ", ") + cite(o.last), Value: outlineValue * h.recency(o.last), Order: 50_000 + o.last})
		}
	}
	return out
}

// declaresVerb separates a file from its declarations.
const declaresVerb = " declares "

// String describes a declaration: "the function push at line 12".
func (d declaredAt) String() string {
	text := "the " + d.kind + " " + d.name
	if d.line > 0 {
		text += " at line " + itoa(d.line)
	}
	return text
}

// scoreOf returns the score of a name, 0 if the history does not rank it.
func (h *History) scoreOf(name string) float64 {
	if e := h.index.Lookup(name); e != nil {
		return e.Score
	}
	return 0
}

// outlines returns the declarations by file, in the order of the first look at the file.
func (h *History) outlines() []*outline {
	byPath := map[string]*outline{}
	var out []*outline
	h.eachCall(func(s *Step, c *Call) {
		if c.Outcome == Failed || c.shownFile() == "" || h.editedSince(c.files[0].Path, s.ID) {
			return
		}
		o := byPath[h.key(c.files[0].Path)]
		if o == nil {
			o = &outline{path: c.files[0].Path}
			byPath[h.key(o.path)] = o
			out = append(out, o)
		}
		o.read(c.Result, s.ID)
	})
	return slices.DeleteFunc(out, func(o *outline) bool { return len(o.declared) == 0 || fileops.OfProse(o.path) })
}

// read adds the declarations of a result. The place in the newest result is the valid one.
func (o *outline) read(result string, step int) {
	lines := strings.Split(withoutReader(result[:boundary(result, min(len(result), mostRead))]), "\n")
	for i := range lines {
		kind, name := fileops.Outlined(withoutGutter(lines, i))
		if name == "" {
			continue
		}
		d := declaredAt{kind: kind, name: name, nth: i}
		if withoutGutter(lines, i) != plainLine(lines[i]) {
			d.line, _, _ = lineNumber(plainLine(lines[i]))
		}
		o.last = step
		if at := slices.IndexFunc(o.declared, func(had declaredAt) bool { return had.name == name }); at >= 0 {
			o.declared[at] = d
		} else {
			o.declared = append(o.declared, d)
		}
	}
}
