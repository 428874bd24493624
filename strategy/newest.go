package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A watch holds the calls that look at the same state: their last result is the state, and
// all results before it are out of date.
type watch struct {
	first int // step of the first run
	runs  int
	last  at
}

// watches returns, for each call that only looks and that ran more than once, the runs of
// that call.
func (h *History) watches() map[at]*watch {
	if h.watched != nil {
		return h.watched
	}
	h.watched = map[at]*watch{}
	h.findShownAgain()
	byCall := map[string]*watch{}
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			c := &h.Steps[i].Calls[k]
			key := c.watchKey()
			if key == "" {
				continue
			}
			w := byCall[key]
			if w == nil {
				w = &watch{first: h.Steps[i].ID}
				byCall[key] = w
			}
			w.runs, w.last = w.runs+1, at{i, k}
			h.watched[w.last] = w
		}
	}
	return h.watched
}

// watchKey identifies what a call looks at, "" if the call failed, may change something, or
// is a check, whose runs have lines of their own.
func (c *Call) watchKey() string {
	if !c.Answered || c.Outcome == Failed || c.doubt || running(c.Result) || c.attempts() {
		return ""
	}
	switch c.deed() {
	case deedLook, deedRun, deedCall:
	default:
		return ""
	}
	return c.words()
}

// besideCommand are arguments that do not change what a command does.
var besideCommand = []string{"description", "explanation", "justification", "timeout", "timeout_ms", "yield_time_ms", "max_output_tokens"}

// words returns the tool and the arguments of a call, to compare it with others.
func (c *Call) words() string {
	var b strings.Builder
	b.WriteString(c.Tool)
	for _, a := range c.Args {
		if c.Command() != "" && slices.Contains(besideCommand, a.Name) {
			continue
		}
		b.WriteString("\x00" + a.Name + "\x00" + prose.Squash(a.Value))
	}
	return b.String()
}

// outdated reports whether the result of a call is no longer the state that it looked at:
// the same call ran again, or later commands that did not fail show the state again.
func (h *History) outdated(where at) bool {
	w := h.watches()[where]
	return w != nil && w.last != where || h.shownAgain[where]
}

// findShownAgain finds the calls that show a state which later commands show again.
func (h *History) findShownAgain() {
	h.shownAgain = map[at]bool{}
	later := map[string]bool{}
	for i := len(h.Steps) - 1; i >= 0; i-- {
		for k := len(h.Steps[i].Calls) - 1; k >= 0; k-- {
			c := &h.Steps[i].Calls[k]
			looked := lookedAt(c)
			if len(looked) == 0 || !c.Answered || c.Outcome == Failed {
				continue
			}
			if c.watchKey() != "" && !slices.ContainsFunc(looked, func(s string) bool { return !later[s] }) {
				h.shownAgain[at{i, k}] = true
			}
			for _, s := range looked {
				later[s] = true
			}
		}
	}
}

// lookedAt returns the simple commands of a call, without changes of the folder.
func lookedAt(c *Call) []string {
	if !tellsState(c.Command()) {
		return nil
	}
	var out []string
	for simple := range checks.SimpleCommands(c.Command()) {
		if simple = strings.TrimSpace(simple); !strings.HasPrefix(simple, "cd ") {
			out = append(out, simple)
		}
	}
	return out
}

// watchedValue is the minimum value of the last result of a call that ran again and again.
const watchedValue = 0.5

// newest adds the number of runs to an entry about a call that ran more than once.
func (w *watch) newest(e *event) {
	if w == nil || w.runs < 2 || e.look != nil {
		return
	}
	e.text += " (" + itoa(w.runs) + " runs since " + stepID(w.first) + ")"
	e.value, e.fold = max(e.value, watchedValue), ""
}

// ranAgain returns a function that reports whether a line of the previous summary quotes the
// result of a call that ran again since then.
func (h *History) ranAgain() func(line string) bool {
	var heads []string
	h.eachCall(func(_ *Step, c *Call) {
		if name := c.name(); c.watchKey() != "" && !strings.HasSuffix(name, "…`") {
			if c.deed() == deedCall {
				asked := ""
				if a := argsBrief(c); a != "" {
					asked = " with" + a
				}
				heads = append(heads, "called "+name+asked+", which returned: ")
			} else {
				heads = append(heads, "ran "+name+", which printed: ", name+" showed: ")
			}
		}
	})
	return func(line string) bool { return prose.BeginsAny(withoutStep(line), heads) }
}
