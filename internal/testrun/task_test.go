package testrun_test

import (
	"testing"

	"github.com/agentcompact/compact/internal/testrun"
)

func TestNameOfATaskPrecedesAVerdict(t *testing.T) {
	for line, want := range map[string]testrun.Verdict{
		"[lint:go] 0 issues.":              testrun.Success,
		"[test-unit] --- FAIL: TestX (0s)": testrun.Failure,
		"[ERROR] COMPILATION ERROR":        testrun.Failure, // Maven's level is not a task
		"[a/b.go] 0 issues.":               testrun.None,
		"[two words] 0 issues.":            testrun.None,
		"see [lint] 0 issues.":             testrun.None,
	} {
		if got := testrun.Line(line); got != want {
			t.Errorf("%q is %v, want %v", line, got, want)
		}
	}
}
