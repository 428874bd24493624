package strategy

import (
	"cmp"
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// longestReason is the maximum length, in characters, of the reason why a test failed, in
// a line of a summary.
const longestReason = 96

// reasonOf returns the reason why a Go test failed, as a suffix to the line that names the
// test. A reason such as "connection refused" tells the next agent what to do; the name
// alone does not. The reason is one of the lines with a place in a file that go test
// prints below the name or, with -v, above it.
func reasonOf(result, says string) string {
	if !strings.HasPrefix(says, "--- FAIL: ") {
		return ""
	}
	var above, below heardLine
	reached := false
	for line := range strings.Lines(result) {
		line = strings.TrimSpace(testrun.Uncolored(line[:min(len(line), 600)]))
		switch {
		case !reached && prose.Squash(line) == prose.Squash(says):
			reached = true
		case strings.HasPrefix(line, "=== RUN") && !reached:
			above = heardLine{}
		case reached && prose.BeginsAny(line, []string{"--- ", "=== ", "FAIL", "ok  \t", "panic: "}) && !strings.HasPrefix(line, "--- FAIL: "+nameOfTest(says)+"/"): // the reason of a subtest is below it
			return colon(cmp.Or(below.text, above.text))
		case reached:
			below.hear(line)
		default:
			above.hear(line)
		}
	}
	return colon(cmp.Or(below.text, above.text))
}

// A heardLine is the line of a test's output that states the reason of the failure. That
// line is the last line with a word for an error, because a test ends there. If no line
// has such a word, it is the last line.
type heardLine struct {
	text  string
	found bool
}

func (r *heardLine) hear(line string) {
	if !atTest(line) {
		return
	}
	low := strings.ToLower(line)
	says := prose.HasAny(low, errorMarks) || prose.HasAny(low, []string{"want", "got ", "should", "must", "mismatch", "missing", "differ"})
	if says || !r.found {
		r.text, r.found = prose.Clip(prose.Squash(line), longestReason), says
	}
}

// nameOfTest returns the name of the test in a line that begins with "--- FAIL: ".
func nameOfTest(says string) string {
	return firstField(strings.TrimPrefix(says, "--- FAIL: "))
}

// atTest reports whether a line begins with a place in a Go file.
func atTest(line string) bool {
	place, rest, ok := strings.Cut(line, ": ")
	file, number, numbered := strings.Cut(place, ":")
	return ok && numbered && rest != "" && strings.HasSuffix(file, ".go") && number != "" && prose.IsDigits(number)
}
