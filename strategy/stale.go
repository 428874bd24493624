package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// oldTextArgs are names of an editor's argument with the text that it replaces.
var oldTextArgs = []string{"old_string", "old_str", "oldText", "oldString", "old_text"}

// markedNumber matches a line number, as tools put it before lines. A number without a mark
// after it may be a part of the text.
var markedNumber = lazy.Compile(`^\d+(?:→|[:-])\s*`)

// changesOf returns the steps of the changes of each file, by the file's key.
func (h *History) changesOf() map[string][]int {
	if h.changes != nil {
		return h.changes
	}
	h.changes = map[string][]int{}
	h.eachCall(func(s *Step, c *Call) {
		for _, f := range c.files {
			if f.Op >= fileops.Edited && f.Op != fileops.Renamed {
				key := h.key(f.Path)
				h.changes[key] = append(h.changes[key], s.ID)
			}
		}
	})
	return h.changes
}

// editedSince reports whether a file was changed after a step.
func (h *History) editedSince(path string, step int) bool {
	return slices.ContainsFunc(h.changesOf()[h.key(path)], func(at int) bool { return at > step })
}

// outdates reports whether a place is in the text of a file that was changed later. A
// quotation of this text may no longer be in the file, and says nothing about the change.
func (h *History) outdates(p place) bool {
	if p.where != textShown || p.call.step < 0 || p.call.step >= len(h.Steps) || p.call.call >= len(h.Steps[p.call.step].Calls) {
		return false
	}
	s := &h.Steps[p.call.step]
	c := &s.Calls[p.call.call]
	return len(c.files) == 1 && h.editedSince(c.files[0].Path, s.ID)
}

// hadBefore began quotations of an earlier state of a file in the summaries of earlier
// versions.
const hadBefore = " had, before the edit "

// quotesNow returns a line of the previous summary, "" if it quotes a file that was changed
// since then.
func (h *History) quotesNow(line string) string {
	path := subject(line)
	rest, ok := strings.CutPrefix(line, "`"+path+"`")
	switch {
	case path == "" || !ok:
	case strings.HasPrefix(rest, hadBefore):
		return ""
	case (strings.HasPrefix(rest, " has “") || strings.HasPrefix(rest, readsVerb)) && len(h.changesOf()[h.key(path)]) > 0:
		return ""
	}
	return line
}
