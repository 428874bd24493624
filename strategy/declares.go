package strategy

import (
	"fmt"
	"strings"
)

// declaredHere bounds how many names one line gives.
const declaredHere = 3

// declareLines say what the files that were read declare, the names that
// matter most.
func (h *History) declareLines(section int) []Line {
	var out []Line
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			c := &s.Calls[k]
			if len(c.Files) != 1 || c.Files[0].Op != Read || c.Outcome == Failed {
				continue
			}
			names := shownNames(c.Result)
			if len(names) == 0 {
				continue
			}
			text := "`" + c.Files[0].Path + "`" + h.declared(c.Result, names) + " "
			if text == "`"+c.Files[0].Path+"` " {
				continue
			}
			text += stepID(s.ID)
			out = append(out, Line{Section: section, Text: text, Value: 0.1 * h.recency(s.ID), Order: 50_000 + s.ID})
		}
	}
	return out
}

// declared quotes the declarations of the names that matter most, and says how
// many more there are.
func (h *History) declared(result string, names []string) string {
	var lines []string
	for _, name := range h.Index.best(names, declaredHere) {
		if l := declarationOf(result, name); l != "" {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	text := " declares “" + strings.Join(lines, "” and “") + "”"
	if n := len(names) - len(lines); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// declarationOf is the line of code that declares a name.
func declarationOf(result, name string) string {
	for from := 0; ; {
		i := strings.Index(result[from:], name)
		if i < 0 {
			return ""
		}
		at := from + i
		start := strings.LastIndexByte(result[:at], '\n') + 1
		if declaration(withoutGutter(result[start:min(len(result), at+len(name)+60)])) == name {
			return around(result, at, at+len(name))
		}
		from = at + len(name)
	}
}

// withoutGutter is a line of code without the number before it.
func withoutGutter(line string) string {
	line = strings.TrimLeft(line, " 0123456789\t")
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "→"), ": "))
}

// shownNames are the names that a listing of code declares. Numbers of lines
// before them are passed over.
func shownNames(result string) []string {
	var f FileOp
	for line := range strings.Lines(result[:min(len(result), 64<<10)]) {
		f.add(declaration(withoutGutter(line)))
	}
	return f.Funcs
}
