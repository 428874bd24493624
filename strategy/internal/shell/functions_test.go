package shell

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests of package strategy.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Texts(t, "../../testdata/inputs.txt")
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		Split, Operands, Fields, Base, IsCommandWord, Separator, Plain, partOfSign, WithoutPrefix, isDuration,
		IsVariable, CutWord,
		Enters, InFolder,
		OutsideHeredocs, WithoutHeredocs, HeredocEnd,
		OneLine, Flatten, InLoop,
		WithoutGlobals, OfProject,
	)
	r.Check()
}
