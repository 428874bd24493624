// Package testrun reads the outcome from the output of a test run, a build or a
// linter, in the words of the common tools.
package testrun

import (
	"slices"
	"strings"
	"unicode"
)

// A Verdict is the outcome that an output states.
type Verdict uint8

// The verdicts. None is the verdict of an output without a line about its outcome.
const (
	None Verdict = iota
	Success
	Failure
)

// A Report is the outcome that an output states. The bytes [From, To) of the output are
// the line that states the verdict, without the space around the line.
type Report struct {
	Verdict  Verdict
	From, To int
}

// longest is the maximum number of bytes read of a line.
const longest = 2000

// Read returns the report of an output. A failure anywhere outweighs a success. If
// several lines report a success, the last one counts. If several lines report a
// failure, the first one of the best rank counts. If only the line of a runner reports
// the failure, the first line about a place in a file counts.
func Read(output string) Report {
	var r, place Report
	best, from := 0, 0
	for line := range strings.Lines(output) {
		start := from
		from += len(line)
		line = line[:min(len(line), longest)]
		text := strings.TrimSpace(line)
		start += strings.Index(line, text)
		plain := strings.TrimSpace(Uncolored(text))
		v := Line(plain)
		if v == Failure {
			if n := rank(plain); r.Verdict != Failure || n < best {
				r, best = Report{v, start, start + len(text)}, n
			}
		} else if v == Success && r.Verdict != Failure {
			r = Report{v, start, start + len(text)}
		}
		if place.To == 0 && (Diagnostic(plain) && (line[0] > ' ' || !Logged(plain)) || line[0] > ' ' && isException(plain)) {
			place = Report{Failure, start, start + len(text)}
		}
	}
	if r.Verdict == Failure && place.To > 0 && (best >= saysLittle || best == counted && strings.Contains(output[place.From:place.To], "error")) {
		return place
	}
	return r
}

// gradleTest reports whether a line is Gradle's line about a failed test:
// "LoginTest > rotation FAILED".
func gradleTest(line string) bool {
	return strings.HasSuffix(line, " FAILED") && strings.Contains(line, " > ") && !strings.HasPrefix(line, ">")
}

// kotlin reports whether a line is an error of the Kotlin compiler, which puts the place
// after "e: ".
func kotlin(line string) bool {
	rest, ok := strings.CutPrefix(line, "e: ")
	return ok && strings.Contains(rest, ".kt")
}

// isException reports whether a line is an exception with its message:
// "api.DeviceException: No connected devices!".
func isException(line string) bool {
	name, message, ok := strings.Cut(line, ": ")
	return ok && message != "" && !strings.ContainsAny(name, " \t()=") && (strings.HasSuffix(name, "Exception") || strings.HasSuffix(name, "Error"))
}

// counted is the rank of a line that only counts failures. A line about a place in a file is more
// useful than such a line if it has the word "error".
const counted = 2

// saysLittle is the rank of lines that do not name the failure.
const saysLittle = 3

// rank returns the rank of a line with a failure, 0 for the most useful: 0 names a
// failed test, 1 a place in a file or an exception, 2 is any other line or a count, 3
// names a package, 4 is a line of a runner.
func rank(line string) int {
	switch {
	case begins(line, []string{"--- FAIL:", "FAIL: "}), strings.HasPrefix(line, "FAILED ") && !strings.HasPrefix(line, "FAILED ("), gradleTest(line):
		return 0
	case Diagnostic(line), kotlin(line), begins(line, []string{"panic: ", "E   ", "error TS", "error[E", "fatal error:"}):
		return 1
	case Wrapper(line), begins(line, []string{"BUILD FAILED", "Build FAILED", "** "}):
		return saysLittle + 1
	case strings.HasPrefix(line, "FAIL\t"), strings.HasPrefix(line, "> Task "):
		return saysLittle
	case IsSummary(line):
		return counted
	}
	return 2
}

var failureStarts = []string{"--- FAIL:", "FAIL\t", "FAIL:", "FAILED (", "FAILED ", "test result: FAILED", "BUILD FAILED", "BUILD FAILURE", "Build FAILED", "[ERROR] ", "npm ERR!", "npm error ",
	"error TS", "error[E", "error: could not compile", "error: aborting", "✖ ", "panic: ", "E   ", "make: *** ", "ERROR: Failed", "fatal error:", "error: script "}

var successStarts = []string{"✔ No ESLint warnings", "✓ built in ", "All matched files use Prettier", "ok  \t", "test result: ok", "BUILD SUCCESS", "Build succeeded", "OK (", "0 issues.", "All checks passed", "Success: no issues found", "no issues found", "Compiled successfully", "✓ Compiled"}

// Line classifies one line without the space around it and without terminal codes.
func Line(line string) Verdict {
	line = withoutTask(withoutClock(line))
	switch {
	case strings.HasSuffix(line, "[no tests to run]"), strings.HasSuffix(line, "[no test files]"), strings.Contains(line, "(0 errors, "):
		return None
	case begins(line, failureStarts), line == "FAIL", misbuilt(line), starred(line, " FAILED **"), endsBadly(line), gradleTest(line), kotlin(line), strings.HasPrefix(line, "> Task ") && strings.HasSuffix(line, " FAILED"):
		return Failure
	case begins(line, successStarts), starred(line, " SUCCEEDED **"), line == "PASS":
		return Success
	}
	if v := labeled(line); v != None || !IsSummary(line) {
		return v
	}
	return counts(line)
}

// withoutClock removes the time of day before a message that names its level:
// "11:40:02 [ERROR] Build failed".
func withoutClock(line string) string {
	const clock = len("11:40:02 ")
	if len(line) < clock || line[clock-1] != ' ' || line[2] != ':' || line[5] != ':' || strings.Trim(line[:clock-1], "0123456789:") != "" || !strings.HasPrefix(line[clock:], "[") {
		return line
	}
	return line[clock:]
}

// withoutTask removes the name of a task with which a runner of several tasks begins each
// line: "[lint:go] 0 issues.".
func withoutTask(line string) string {
	name, rest, ok := strings.Cut(line, "] ")
	if !ok || len(name) > longestTask || !strings.HasPrefix(name, "[") || strings.ContainsAny(name[1:], " /.[=\"'") || !strings.ContainsFunc(name, unicode.IsLower) {
		return line
	}
	return rest
}

// longestTask is the maximum length of the name of a task, in bytes.
const longestTask = 40

// longestStatus is the length in bytes of a line in which a runner states its status.
const longestStatus = 160

// endsBadly reports whether a runner states in a line that it ran nothing, or with
// which status it ends: "No test files found, exiting with code 1".
func endsBadly(line string) bool {
	if len(line) > longestStatus {
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

// IsSummary reports whether a line is a test runner's line of counts.
func IsSummary(line string) bool {
	return strings.HasPrefix(line, "=") || begins(line, []string{"Tests", "Test Files", "Test Suites", "Tests:", "Found ", "Ran ", "Executed "}) || len(line) < 60 && startsWithCount(line)
}

// startsWithCount reports whether a line begins with a number of tests ("3 failed, 10
// passed"), and not with a line number.
func startsWithCount(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	return rest != line && begins(rest, []string{" pass", " fail", " error", " problem", " skip", " test", " run", " example", " spec", " scenario", " assertion", " expect"})
}

// Count returns the number before the first of the words that a line has after a
// number.
func Count(line string, words ...string) (n int, ok bool) {
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

func begins(line string, with []string) bool {
	return slices.ContainsFunc(with, func(s string) bool { return strings.HasPrefix(line, s) })
}
