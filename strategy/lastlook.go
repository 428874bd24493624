package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Limits of the quotation of the last look: its characters, and the bytes of an output that is
// quoted from its beginning. Of a longer file, only the lines with words of the task are quoted.
const (
	lastLookChars = 320
	lastLookBytes = 4 * lastLookChars
)

// introductions begin the line with which a tool introduces the text of a file.
var introductions = []string{"Here's the result of running ", "Here is the result of running ", "Here's the content of ", "Contents of "}

const lastLookMark = "the last look, "

// lastLook returns a line with the output of the look with which the history ends. Mostly nobody
// has used that output yet: without it, the next step would be to look again.
func (h *History) lastLook() fact {
	if len(h.Steps) == 0 {
		return fact{}
	}
	s := &h.Steps[len(h.Steps)-1]
	for i := len(h.Steps) - 1; i > 0 && len(s.Calls) == 0 && s.Text == "" && s.Shown == ""; i-- {
		s = &h.Steps[i-1]
	}
	if len(s.Calls) == 0 || s.user() {
		return fact{}
	}
	c := &s.Calls[len(s.Calls)-1]
	if d := c.deed(); d != deedLook && d != deedRun || !c.Answered || c.Outcome == Failed || c.Effect() || c.doubt || running(c.Result) || c.shows() != "" || c.searchedInVain() || foundNothing(c.Result) {
		return fact{}
	}
	shown := h.lookShown(c)
	if shown == "" || c.deed() == deedRun && (len(s.Calls) > 1 || !strings.Contains(shown, "; ")) { // the log has the only line
		return fact{}
	}
	value := lastLookValue
	if h.goesOn {
		value = usedLookValue
	}
	return fact{s.ID, lastLookMark + c.name() + ", showed: " + shown, value}
}

// Values of the last look: without a message of the assistant behind it, and with one, which
// has used the output already.
const (
	lastLookValue = 1.2
	usedLookValue = 0.2
)

// lookShown returns the lines that are quoted of the output of a look.
func (h *History) lookShown(c *Call) string {
	text := withoutReader(body(c.Result))
	lines := strings.Split(text, "\n")
	whole := len(text) <= lastLookBytes || len(c.files) == 0
	var out []string
	for i := range lines {
		line := withoutGutter(lines, i)
		if whole && i > mostDigested/lastLookChars || line == "" || i == 0 && prose.BeginsAny(line, introductions) || framed(line) || ourOwn(line) || !whole && h.themes().in(line, 1) == 0 {
			continue
		}
		out = append(out, prose.Squash(line))
	}
	return cutList(out, lastLookChars)
}
