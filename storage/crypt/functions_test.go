package crypt

import (
	"testing"

	"github.com/agentcompact/compact/internal/recorded"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := recorded.Inputs(t, "testdata/inputs.txt", 2000)
	r := recorded.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		parseRecipients, described, parseIdentities, RecipientsOf,
		mayPrecede,
		parseStart,
		recipientsIn,
	)
	r.Check()
}
