package strategy

import "strings"

// A report is the outcome that the output of a test run, a build or a linter
// states.
type report uint8

const (
	noReport report = iota
	reportsSuccess
	reportsFailure
)

// testReport reads the reports of the common tools. It returns the outcome and
// the line that states it. A failure anywhere outweighs what passed.
func testReport(result string) (report, string) {
	verdict, says, last := noReport, "", ""
	for line := range strings.Lines(result) {
		if len(line) > 2000 {
			line = line[:2000]
		}
		line = strings.TrimSpace(uncolored(line))
		if line == "" {
			continue
		}
		if !framed(line) {
			last = line
		}
		switch r := reportLine(line); {
		case r == reportsFailure && (verdict != reportsFailure || better(line, says)):
			verdict, says = r, line
		case r == reportsSuccess && verdict != reportsFailure:
			verdict, says = r, line
		}
	}
	if verdict == noReport && onlyCounts(last) {
		verdict, says = reportsSuccess, last
	}
	return verdict, clip(squash(says), maxErrorLine)
}

// onlyCounts reports whether a linter ends its output with a line: "Checked 12
// files in 30ms. No fixes applied." What it found would follow that line.
func onlyCounts(line string) bool {
	rest, ok := strings.CutPrefix(line, "Checked ")
	n, rest, _ := strings.Cut(rest, " file")
	return ok && n != "" && isDigits(n) && strings.Contains(rest, " in ") && strings.HasSuffix(rest, ". No fixes applied.")
}

// better reports whether line names what failed and than does not.
func better(line, than string) bool {
	return than == "FAIL" && line != than || strings.HasPrefix(line, "--- FAIL:") && !strings.HasPrefix(than, "--- FAIL:") || strings.HasPrefix(line, "FAILED ") && !strings.HasPrefix(than, "FAILED ")
}

var failureStarts = []string{"--- FAIL:", "FAIL\t", "FAIL:", "FAILED (", "FAILED ", "test result: FAILED", "BUILD FAILED", "BUILD FAILURE", "[ERROR] ", "npm ERR!", "npm error ",
	"error TS", "error[E", "error: could not compile", "error: aborting", "✖ ", "panic: ", "E   ", "make: *** ", "ERROR: Failed", "fatal error:", "error: script "}

var successStarts = []string{"✔ No ESLint warnings", "✓ built in ", "All matched files use Prettier", "ok  \t", "test result: ok", "BUILD SUCCESS", "0 issues.", "All checks passed", "Success: no issues found", "no issues found", "Compiled successfully", "✓ Compiled"}

// reportLine classifies one line.
func reportLine(line string) report {
	switch {
	case strings.HasSuffix(line, "[no tests to run]"), strings.HasSuffix(line, "[no test files]"), strings.Contains(line, "(0 errors, "):
		return noReport
	case beginsAny(line, failureStarts), line == "FAIL", strings.Contains(line, ": error TS"), endsBadly(line):
		return reportsFailure
	case beginsAny(line, successStarts), line == "PASS":
		return reportsSuccess
	}
	failed, okF := countBefore(line, " failed", " failing", " fail", " failures", " errors", " error", " problems")
	passed, okP := countBefore(line, " passed", " passing", " pass")
	switch {
	case okF && failed > 0 && summaryLine(line):
		return reportsFailure
	case okP && passed > 0 && summaryLine(line):
		return reportsSuccess
	}
	return noReport
}

// endsBadly reports whether a runner states in a line that it ran nothing, or the status
// with which it ends: "No test files found, exiting with code 1".
func endsBadly(line string) bool {
	if len(line) > maxErrorLine {
		return false
	}
	if _, status, ok := strings.Cut(line, " with code "); ok && strings.Contains(line, "exiting") {
		return beginsWithError(status)
	}
	if _, status, ok := strings.Cut(line, "ommand failed with exit code "); ok {
		return beginsWithError(status)
	}
	return strings.Contains(line, "no tests ran in ")
}

// beginsWithError reports whether a text begins with the status of an error.
func beginsWithError(status string) bool {
	return status != "" && status[0] >= '1' && status[0] <= '9'
}

// summaryLine reports whether a test runner states counts in a line.
func summaryLine(line string) bool {
	return strings.HasPrefix(line, "=") || beginsAny(line, []string{"Tests", "Test Files", "Test Suites", "Tests:", "Found ", "Ran "}) || len(line) < 60 && counts(line)
}

// counts reports whether a line begins with a number of tests ("3 failed, 10
// passed"), and not with a line number.
func counts(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	return rest != line && beginsAny(rest, []string{" pass", " fail", " error", " problem", " skip", " test", " example", " spec", " scenario", " assertion", " expect"})
}

// countBefore returns the number before one of the words.
func countBefore(line string, words ...string) (n int, ok bool) {
	for _, w := range words {
		i := strings.Index(line, w)
		if i <= 0 {
			continue
		}
		start := i
		for start > 0 && line[start-1] >= '0' && line[start-1] <= '9' && i-start < 7 {
			start--
		}
		if start == i {
			continue
		}
		for _, d := range line[start:i] {
			n = 10*n + int(d-'0')
		}
		return n, true
	}
	return 0, false
}
