package checks

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests of package strategy.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Texts(t, "../../testdata/inputs.txt")
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		Begins,
		Only, At, OnlyBuild, saysNothing, echoesStatus, builds, HidesStatus,
		Of, cover, widerPatterns, isOperand, commonFolders, checkWords, checked, ofItsFolder, narrows,
		GoFlags, Narrowed, ShowsAll, lineCount, Folder, Place, Variables, PytestPaths,
	)
	r.Check()
}
