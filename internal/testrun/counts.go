package testrun

import "strings"

// Words for failures, successes and runs, which follow their number in a line of counts. Each word
// also stands for its longer forms: " fail" for " failed", " fail" for " failures".
var (
	failWords = []string{" fail", " error", " problem"}
	passWords = []string{" pass"}
	runWords  = []string{" test", " example", " spec", " scenario", " run", " assertion"}
)

// counts returns the verdict of a line of counts, each in front of its word: "3 failed, 10 passed",
// "22 examples, 0 failures".
func counts(line string) Verdict {
	okF := false
	for _, w := range failWords {
		n, ok := Count(line, w)
		if n > 0 {
			return Failure
		}
		okF = okF || ok
	}
	passed, _ := Count(line, passWords...)
	ran, _ := Count(line, runWords...)
	if passed > 0 || okF && ran > 0 {
		return Success
	}
	return None
}

// labeled returns the verdict of a line of counts, each behind its label: "Tests: 8, Assertions: 11,
// Failures: 1." of PHPUnit, "Passed!  - Failed: 0, Passed: 13" of .NET, "Tests run: 5, Failures: 0".
func labeled(line string) Verdict {
	if _, rest, ok := strings.Cut(line, "!  - "); ok {
		line = rest
	}
	line = strings.TrimPrefix(strings.TrimPrefix(line, "[INFO] "), "[WARNING] ")
	ran, failed, n := 0, 0, 0
	for part := range strings.SplitSeq(line, ", ") {
		label, number, ok := strings.Cut(part, ": ")
		count, isCount := Count(strings.TrimSpace(strings.TrimRight(number, ". "))+" ", " ")
		if !ok || !isCount {
			break
		}
		switch n++; strings.ToLower(label) {
		case "tests", "tests run", "passed":
			ran += count
		case "failed", "failures", "errors":
			failed += count
		}
	}
	switch {
	case n < 2:
		return None
	case failed > 0:
		return Failure
	case ran > 0:
		return Success
	}
	return None
}

// misbuilt reports whether a line is an error of a compiler that puts the place in round brackets, as
// MSBuild and tsc do: "Auth/Header.cs(19,31): error CS0103: ...".
func misbuilt(line string) bool {
	place, _, ok := strings.Cut(line, ": error ")
	return ok && strings.HasSuffix(place, ")") && strings.ContainsRune(place, '(') || strings.Contains(line, ": error TS")
}

// starred reports whether a line is the outcome of xcodebuild: "** TEST FAILED **".
func starred(line, end string) bool {
	return strings.HasPrefix(line, "** ") && strings.HasSuffix(line, end)
}
