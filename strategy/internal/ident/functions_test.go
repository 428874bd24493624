package ident

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests of package strategy.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Texts(t, "../../testdata/inputs.txt")
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		escaped, All, scheme, thousands, threeDigits, urlEnd,
		Whole,
		isPattern, sideOfDiff, isPath, compound, isEmail, isUUID, isVersion, isDate, isMember, isTicket, isFile,
		single, isAcronymName,
	)
	r.Check()
}
