package checks

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// partial lists beginnings of lines that report the success of a part of a run: of one
// package, or of one program of tests.
var partial = []string{"ok  \t", "PASS", "test result: ok"}

// HidesFailures reports whether a filter behind a check may have removed the line about a
// failure. says is the line that reports a success, without colors. If that line only reports a
// part of the run, a search for successes and the beginning of an output do not show the other
// parts.
func HidesFailures(cmd, says, result string) bool {
	if !prose.BeginsAny(says, partial) && !strings.HasPrefix(says, "ok ") {
		return false
	}
	for before, simple := range shell.Commands(cmd) {
		w := shell.Fields(strings.ToLower(simple))
		if len(w) == 0 || !strings.HasPrefix(before, "|") || before == "||" {
			continue
		}
		switch w[0] {
		case "head":
			if prose.CountLines(result) >= lineCount(w[1:]) {
				return true
			}
		case "grep", "egrep", "rg":
			if findsOnlySuccess(w[1:]) {
				return true
			}
		}
	}
	return false
}

// findsOnlySuccess reports whether the words of a search, in lower case, find no line about
// a failure.
func findsOnlySuccess(w []string) bool {
	for _, word := range w {
		if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "v") {
			return false
		}
	}
	return !prose.HasAny(strings.Join(w, " "), []string{"fail", "error", "result", ".*", "panic"})
}
