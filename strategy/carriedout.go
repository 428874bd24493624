package strategy

import (
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// carriedOut reports whether a plan of a step was carried out after that step. A plan that
// names files is carried out if all these files were changed. A plan without files is
// carried out if it ends with a run, and the last check passed after the last change.
func (h *History) carriedOut(plan string, step int) bool {
	changed, last := map[string]bool{}, 0
	for key, all := range h.changesOf() {
		for _, at := range all {
			if at > step {
				changed[fileName(key)], last = true, max(last, at)
			}
		}
	}
	if last == 0 {
		return false
	}
	named, all := filesIn(plan), true
	for _, name := range named {
		all = all && changed[name]
	}
	if len(named) > 0 {
		return all
	}
	return prose.HasAny(strings.ToLower(plan[strings.LastIndex(plan, "; ")+1:]), runWords) && h.lastPass() > last
}

// filesIn returns the names of the files that a text names, without their folders.
func filesIn(text string) []string {
	var out []string
	identifiers(text, func(k ident.Kind, name string) {
		if (k == ident.Path || k == ident.File) && fileops.IsPath(name) {
			out = prose.AppendNew(out, fileName(name))
		}
	})
	return out
}

// runWords lists words in the last item of a plan that ends with a run.
var runWords = []string{"test", "verify", "run ", "check", "build", "validate", "confirm", "edge case"}

// lastPass returns the step of the last check if the check passed, else 0.
func (h *History) lastPass() (step int) {
	h.eachCall(func(s *Step, c *Call) {
		verdict, _ := testReport(c.Result)
		switch d := c.deed(); {
		case d == deedCheck && c.Outcome == Failed, d == deedRun && verdict == testrun.Failure:
			step = 0
		case d == deedCheck && c.Outcome == OK, d == deedRun && verdict == testrun.Success && c.Outcome != Failed:
			step = s.ID
		}
	})
	return step
}
