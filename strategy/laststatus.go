package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// passedName returns the name of a check that passed. If the status of another check before the
// tests is lost, it names only the part with the tests: "… go test ./d" of "make lint || true;
// go test ./d".
func (c *Call) passedName() string {
	if tests := fromTests(c.Command()); tests != "" {
		return "`… " + shortCommand(shortPaths(tests, c.base)) + "`"
	}
	return c.name()
}

// fromTests returns the part of a command line from its tests on, if another check stands before
// them and does not decide whether they run. Otherwise it returns "".
func fromTests(cmd string) string {
	if cmd = strings.TrimSpace(cmd); len(cmd) > shell.MaxLine || !strings.Contains(cmd, ";") || !shell.Plain(cmd) {
		return ""
	}
	lost, from, at := false, 0, 0 // from is the begin of the parts behind the last ";" after a check
	for before, simple := range shell.Commands(cmd) {
		at += len(before)
		if before == ";" && lost {
			from = at
		}
		at += len(simple)
		switch low := strings.ToLower(strings.TrimSpace(simple)); {
		case !checks.Begins(low):
		case !strings.Contains(low, "test"):
			lost = true
		case from > 0:
			return strings.TrimSpace(cmd[from:])
		default:
			return "" // the output of these tests is the first
		}
	}
	return ""
}
