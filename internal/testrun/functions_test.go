package testrun

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Inputs(t, "testdata/inputs.txt", 2000)
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		Uncolored,
		Diagnostic, Logged, isListedError, isPlace, cutLast, isFile, digits, startsFold,
		Tells, isTermination, commits, isGitPush, namesException, hasAny,
		Read, gradleTest, kotlin, isException, rank, Line, withoutClock, withoutTask, endsBadly, beginsWithError,
		IsSummary, startsWithCount, begins,
		Wrapper,
	)
	r.Check()
}
