package strategy

import (
	"strings"
	"unicode"
)

// adviceStarts begin lines of advice, which a tool prints whatever came of the run.
var adviceStarts = []string{"warning: running pip", "npm audit fix", "npm fund", "npm notice", "[notice]", "run `npm", "run 'npm", "to address ", "hint: ",
	"npm err! code ", "npm error code ", "npm err! errno", "npm error errno", "npm err! path", "npm error path", "npm err! a complete log", "npm error a complete log"}

// noOutcome reports whether a line says nothing of what came of a run: advice, markup
// without a word, the sentinel with which a harness finds the end of an output.
func noOutcome(line string) bool {
	return beginsAny(strings.ToLower(line), adviceStarts) || strings.HasPrefix(line, "</") || sentinel(markless(line))
}

// sentinel reports whether a line is one word without a small letter that begins with
// signs: "///PROCESS-DONE:0", "__END__". It is so for a line without a word, too.
func sentinel(line string) bool {
	line = strings.TrimSpace(line)
	if line == "" {
		return true
	}
	signs := len(line) - len(strings.TrimLeft(line, "/_#-=*<>:@~"))
	return signs >= 2 && !strings.ContainsAny(line, " \t") && !strings.ContainsFunc(line, unicode.IsLower) && strings.ContainsFunc(line, unicode.IsUpper)
}

// markless returns a line of markup without its tags, any other line as it is.
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

// alarms begin lines with which a script says what stops it.
var alarms = []string{"⚠", "✗", "✘", "❌", "✖", "⛔"}
