package transport

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Inputs(t, "testdata/inputs.txt", 2000)
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		usageOf,
		bearer, subject, claims,
		inner,
		members, sessionIn,
		project,
		readOverflow, trimArray, number,
		asks,
		asksForSeveral,
		canonical,
		definition, fixed,
		withContainer,
		hasTools, withField, onlyTool, elements,
		isCut,
		eventSize,
		isStoredEnd,
		cutLast,
		isOf, pathModel, deployment,
		isOurs,
		outcome, withoutNumbers,
	)
	r.Check()
}
