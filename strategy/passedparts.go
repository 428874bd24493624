package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// partsSince describes which checks of a failed command passed alone since, "" if none did: "; its
// `go test ./a` passed since [s8], its `go vet ./a` has not". all reports that each of them passed.
func (h *History) partsSince(failed *check) (note string, all bool) {
	parts := checks.Parts(failed.call.Command())
	if failed.call.Outcome != Failed || parts == nil {
		return "", false
	}
	if i := failedPart(failed.call, parts); i >= 0 {
		parts = parts[i : i+1]
	}
	var did, left []string
	for _, p := range parts {
		if step := h.passedSince(p.Covering, failed.step); step > 0 {
			did = append(did, "`"+shortCommand(p.Name)+"` passed since "+stepID(step))
		} else {
			left = append(left, "`"+shortCommand(p.Name)+"`")
		}
	}
	switch {
	case len(did) == 0:
		return "", false
	case len(left) == 0:
		return "; its " + strings.Join(did, ", its "), true
	}
	return "; its " + strings.Join(did, ", its ") + ", its " + strings.Join(left, " and its ") + " has not", false
}

// failedPart returns the index of the check that failed, if the others ran before it and passed: the
// tests of "go vet ./a && go test ./a" if a test failed. Otherwise it returns -1.
func failedPart(c *Call, parts []checks.Part) int {
	last := len(parts) - 1
	isTest := func(p checks.Part) bool { return strings.Contains(strings.ToLower(p.Name), "test") }
	if strings.ContainsAny(c.Command(), ";\n") || strings.Contains(c.Command(), "||") || !isTest(parts[last]) || slices.ContainsFunc(parts[:last], isTest) || !tellsOfTests(c.Says) {
		return -1
	}
	return last
}

// tellsOfTests reports whether a line of a report is about tests that failed, and not about a build
// or a linter.
func tellsOfTests(line string) bool {
	return prose.BeginsAny(line, []string{"--- FAIL", "FAIL", "test result: ", "not ok "}) || testrun.IsSummary(line) && !strings.HasPrefix(line, "Found ") && !strings.Contains(line, " problem")
}

// passedSince returns the last step after the given one in which a check passed, 0 if there is none
// or if it failed again since.
func (h *History) passedSince(part checks.Covering, after int) (at int) {
	h.eachCall(func(s *Step, c *Call) {
		if s.ID <= after || !c.Check() || c.Outcome != OK && c.Outcome != Failed {
			return
		}
		covers := func(now checks.Covering) bool { return slices.Contains(part.Covered, now.Own) }
		switch {
		case c.Outcome == OK && slices.ContainsFunc(c.checks(), covers):
			at = s.ID
		case c.Outcome == Failed && (slices.ContainsFunc(c.checks(), covers) || slices.ContainsFunc(checks.Parts(c.Command()), func(p checks.Part) bool { return covers(p.Covering) })):
			at = 0
		}
	})
	return at
}
