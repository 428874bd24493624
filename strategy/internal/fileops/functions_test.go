package fileops

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests of package strategy.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Texts(t, "../../testdata/inputs.txt")
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		OfCommand, OfStopped, firstLines, entersTemporary, SimpleOps, redirected, isScript, sedOp, takenBackFiles,
		mayBeVersion,
		declaration, nameAt, Declared,
		headingIn,
		OfProse, NewText, NewLine, tellsChange, QuotedNew,
		IsPath, extension, Key, Drive,
		Outlined, method,
		OfPatch, diffPath, diffOp,
		scriptOps, RunsScript, OfScript,
	)
	r.Check()
}
