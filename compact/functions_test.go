package compact

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Inputs(t, "testdata/inputs.txt", 2000)
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		each, severest,
		nextLife,
		oneLine,
		squeezeLast,
		madeOfContent, isHex, isUnnamed,
		Overridable,
		within,
		matches, overlap, covers,
		clipped,
		oneOf,
		unread, rangeOf, tailOf, shorten,
		stepOfFile, textEnd,
		isOurs,
		headAndTail,
		tidyFirst,
		shellWord,
		elsewhere,
		snakeCase,
		reducerOf,
		checkFolder,
	)
	r.Check()
}
