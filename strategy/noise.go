package strategy

import (
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// adviceStarts begin lines of advice, which a tool prints after successes and failures alike.
var adviceStarts = []string{"warning: running pip", "npm audit fix", "npm fund", "npm notice", "[notice]", "[showing lines ", "npm warn publish ", "error: pip's dependency resolver", "run `npm", "run 'npm", "to address ", "hint: ",
	"npm err! code ", "npm error code ", "npm err! errno", "npm error errno", "npm err! path", "npm error path", "npm err! a complete log", "npm error a complete log"}

// noOutcome reports whether a line says nothing about the outcome of a run: advice,
// markup without a word, or the sentinel with which a harness marks the end of an output.
func noOutcome(line string) bool {
	return prose.BeginsAny(strings.ToLower(line), adviceStarts) || strings.HasPrefix(line, "</") || sentinel(markless(line))
}

// sentinel reports whether a line is one word that begins with signs and has no
// lower-case letter: "///PROCESS-DONE:0", "__END__". It also returns true for an empty
// line.
func sentinel(line string) bool {
	line = strings.TrimSpace(line)
	if line == "" {
		return true
	}
	signs := len(line) - len(strings.TrimLeft(line, "/_#-=*<>:@~"))
	return signs >= 2 && !strings.ContainsAny(line, " \t") && !strings.ContainsFunc(line, unicode.IsLower) && strings.ContainsFunc(line, unicode.IsUpper)
}

// markless returns a line of markup without its tags, and any other line unchanged.
func markless(line string) string {
	if !strings.HasPrefix(line, "<") {
		return line
	}
	var b strings.Builder
	for rest := line; rest != ""; {
		before, after, ok := strings.Cut(rest, "<")
		b.WriteString(before)
		if !ok {
			break
		}
		if _, rest, ok = strings.Cut(after, ">"); !ok {
			break
		}
	}
	return b.String()
}

// alarms begin lines in which a script reports the reason why it stops.
var alarms = []string{"⚠", "✗", "✘", "❌", "✖", "⛔"}
