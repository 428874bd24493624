package strategy

import (
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// hidesFailure reports whether the output of a check may lack a failure although it reports
// a success: a filter can have removed the failure, or it belongs to another check of the
// command whose status is lost.
func (c *Call) hidesFailure() bool {
	return checks.HidesFailures(c.Command(), testrun.Uncolored(c.Says), body(c.Result)) || c.diagnosed() != ""
}

// diagnosed returns the first line about a mistake in a file that a check printed whose
// status is lost, "" if there is none or if the output states a failure.
func (c *Call) diagnosed() string {
	if cmd := c.Command(); !c.Check() || !checks.HidesStatus(cmd) {
		return ""
	}
	text := c.Result[max(0, len(c.Result)-maxReport):]
	if verdict, _ := testReport(text); verdict == testrun.Failure {
		return ""
	}
	for line := range strings.Lines(testrun.Uncolored(text)) {
		if line[0] > ' ' && testrun.Diagnostic(strings.TrimSpace(line)) {
			return prose.Squash(line)
		}
	}
	return ""
}

// unstated ends the line about a check whose status is lost. words are the quoted words of
// its output.
func (c *Call) unstated(words string) string {
	cmd := c.Command()
	switch {
	case c.doubt && c.Says == "" && !c.Check():
		return uncertain
	case c.Outcome != Unknown || c.deed() != deedCheck || !checks.HidesStatus(cmd), words != "" && (prose.HasAny(cmd, []string{"||", "&&"}) && c.onlyEchoes(cmd) || prose.HasAny(cmd, []string{"$?", "PIPESTATUS"})):
		return "" // an echo behind || or &&, or of the status, states the outcome
	case words == "":
		return ", with no outcome stated"
	}
	return "; no outcome stated"
}

// effectHidden reports whether the failure of an effect would be hidden: the command goes on
// after any failure, it dropped the error or printed nothing about the effect, and the rest
// of the output comes from its own echo.
func (c *Call) effectHidden() bool {
	cmd := shell.WithoutHeredocs(c.Command())
	if cmd == "" || len(cmd) > shell.MaxLine || !c.onlyEchoes(cmd) {
		return false
	}
	effect := ""
	for sep, simple := range shell.Commands(cmd) {
		if effect != "" && (sep == "||" && len(effects.Parts(simple)) == 0 && !c.wouldTell(simple) || sep == ";" && dropsErrors(effect)) {
			return true
		}
		if effect = simple; len(effects.Parts(simple)) == 0 {
			effect = ""
		}
	}
	return false
}

// wouldTell reports whether the result would be another one if a command behind || had run: it
// ends with a failure, or prints a text that the output lacks.
func (c *Call) wouldTell(simple string) bool {
	w := shell.Fields(strings.TrimLeft(strings.TrimSpace(simple), "{ "))
	switch {
	case len(w) == 0:
		return false
	case w[0] == "exit" && len(w) > 1 && w[1] != "0":
		return c.Exit == 0
	case w[0] == "echo" && len(w) > 1:
		text := strings.Join(w[1:], " ")
		return !strings.ContainsAny(text, "$`>-\\") && !strings.Contains(c.Result, text)
	}
	return false
}

// dropsErrors reports whether a simple command sends its errors to /dev/null.
func dropsErrors(simple string) bool {
	flat := strings.ReplaceAll(simple, " ", "")
	return strings.Contains(flat, "2>/dev/null") || strings.Contains(flat, "&>/dev/null") || strings.Contains(flat, ">/dev/null2>&1")
}

// onlyEchoes reports whether each line of the output is a text that the command has, for its
// own echo.
func (c *Call) onlyEchoes(cmd string) bool {
	for line := range strings.Lines(testrun.Uncolored(body(c.Result))) {
		if line = strings.TrimSpace(line); line != "" && !framed(line) && !ourOwn(line) && !strings.Contains(cmd, line) {
			return false
		}
	}
	return true
}
