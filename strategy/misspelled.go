package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// notThere lists phrases in which a shell or a runner says that a command, a script or
// an option does not exist.
var notThere = []string{"missing script:", "command not found", "unrecognized subcommand", "no such subcommand", "unknown option", "unknown flag", "unrecognized option", "unrecognized arguments", "unknown command", "no such command",
	"is not recognized as ", "script not found", "err_pnpm_no_script", "no rule to make target", "could not determine executable"}

// notThereLines is the number of lines at the beginning of an output that are searched
// for these phrases. Later lines may come from a program under test.
const notThereLines = 4

// misspelled reports whether a failed check says that its command is wrong: the script,
// runner or option does not exist. Such a failure says nothing about the work.
func (c *Call) misspelled() bool {
	if c.Outcome != Failed || c.Command() == "" {
		return false
	}
	n := 0
	for line := range strings.Lines(body(c.Result)) {
		line = strings.ToLower(strings.TrimSpace(testrun.Uncolored(line[:min(len(line), 400)])))
		if line == "" || framed(line) {
			continue
		}
		if shellRefuses(line) && strings.Contains(line, "no such file") {
			return true // the command names a file or a folder that is elsewhere
		}
		if prose.HasAny(line, notThere) && !strings.Contains(line, "needed by ") || c.lacksRunner(line) {
			return true
		}
		if n++; n == notThereLines {
			break
		}
	}
	return false
}

// lacksRunner reports whether a lower-case line says that the module run by the command
// is not installed: "No module named pytest".
func (c *Call) lacksRunner(line string) bool {
	_, name, ok := strings.Cut(line, "no module named ")
	if !ok {
		return false
	}
	name = strings.Trim(name, `'".; `)
	return shell.Any(c.Command(), func(simple string) bool {
		w := shell.Fields(simple)
		i := slices.Index(w, "-m")
		return i >= 0 && i+1 < len(w) && w[i+1] == name
	})
}

// passedElsewhere returns the first later step in which a check passed, under any command;
// 0 if there is none.
func (h *History) passedElsewhere(step int) (at int) {
	h.eachCall(func(s *Step, c *Call) {
		if at > 0 || s.ID <= step || !c.Answered || c.Outcome == Failed {
			return
		}
		if c.Check() && c.Outcome == OK {
			at = s.ID
		} else if verdict, _ := testReport(c.Result); verdict == testrun.Success && c.deed() == deedRun {
			at = s.ID
		}
	})
	return at
}

// insteadOf returns the first step in which another check passed after a check with a
// wrong command. It returns 0 if there is no such step, or the command is not wrong.
func (h *History) insteadOf(c *check) int {
	if !c.call.misspelled() {
		return 0
	}
	return h.passedElsewhere(c.step)
}

// elsewhere returns the suffix for a check that could not run, if another check passed later.
func elsewhere(step int) string { return "; another check passed later " + stepID(step) }
