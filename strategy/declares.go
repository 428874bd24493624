package strategy

import (
	"fmt"
	"strings"
)

// declaredHere bounds how many names one line gives.
const declaredHere = 4

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
			best := h.Index.best(names, declaredHere)
			text := "`" + c.Files[0].Path + "` declares " + pairs(best)
			if n := len(names) - len(best); n > 0 {
				text += fmt.Sprintf(" and %d more", n)
			}
			out = append(out, Line{Section: section, Text: text + " " + stepID(s.ID), Value: 0.1 * h.recency(s.ID), Order: 50_000 + s.ID})
		}
	}
	return out
}

// shownNames are the names that a listing of code declares. Numbers of lines
// before them are passed over.
func shownNames(result string) []string {
	var f FileOp
	for line := range strings.Lines(result[:min(len(result), 64<<10)]) {
		line = strings.TrimLeft(line, " 0123456789\t")
		line = strings.TrimPrefix(strings.TrimPrefix(line, "→"), ": ")
		f.add(declaration(strings.TrimSpace(line)))
	}
	return f.Funcs
}
