package tidy

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Inputs(t, "testdata/inputs.txt", 2000)
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		dataIn,
		shownBy,
		closes, definesSQL, declares, unindented, indent, lineNumber, numberEnd, unnumbered,
		escape,
		resync,
		isHeading, isNavigation,
		depthAt, introducesLines,
		holdsError, mentionsError, isCross, namesError, statesFailure, isFailing, isEmptyValue, isNegated,
		inFrame,
		readContainer, blanks, skipJSON, quoted,
		unescaped,
		charBefore, charAfter, counts,
		names, folderOf, endingOf,
		isLogged, isKlog, isKlogError, isAccess, isObject, beginsWithTime, shape,
		IsReduced,
		isHTML, isSilent, tagName, inline,
		hitOf, hitAt, isPath,
		counted,
		isHitPath, numberedHit, hitNumber,
		spotsOf, sought, isWord,
		isName,
		isDetail, isPass, isTotal, unprefixed,
	)
	r.Check()
}
