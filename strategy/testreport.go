package strategy

import (
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// testReport returns the outcome that the output of a test run, a build or a linter
// states, and the line that states it.
func testReport(result string) (testrun.Verdict, string) {
	r := testrun.Read(result)
	says := testrun.Uncolored(result[r.From:r.To])
	if r.Verdict == testrun.None {
		if last := lastReported(result); onlyCounts(last) {
			r.Verdict, says = testrun.Success, last
		}
	}
	return r.Verdict, prose.Clip(prose.Squash(says), maxErrorLine)
}

// lastReported returns the last line that does not come from the harness.
func lastReported(result string) string {
	for rest := result; rest != ""; {
		i := strings.LastIndexByte(rest, '\n') + 1
		if line := strings.TrimSpace(testrun.Uncolored(rest[i:])); line != "" && !framed(line) {
			return line
		}
		rest = rest[:max(0, i-1)]
	}
	return ""
}

// onlyCounts reports whether a line is the end of a linter's output without findings:
// "Checked 12 files in 30ms. No fixes applied." Findings would follow that line.
func onlyCounts(line string) bool {
	rest, ok := strings.CutPrefix(line, "Checked ")
	n, rest, _ := strings.Cut(rest, " file")
	return ok && n != "" && prose.IsDigits(n) && strings.Contains(rest, " in ") && strings.HasSuffix(rest, ". No fixes applied.")
}
