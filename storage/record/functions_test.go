package record

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Inputs(t, "testdata/inputs.txt", 2000)
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		SessionKey, Prefix, EscapeSession, UnescapeSession, IsFolder, staysInFolder, cutEscaped, isHash,
		lineMember,
		headsKey, nameKey, quoted, unsigned, HeadsKey, HeadsPublic,
		FinalIndexName, IsOriginals,
		isOfSession, isLog,
		hashOf, checkBody, parseLink, tornBody,
		waitingName,
		fenceOf,
		waits, bodyHash, linesOf,
		parseStretch, HasMessages, isStretch,
		keyOf,
		by,
	)
	r.Check()
}
