package prose

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests of package strategy.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Texts(t, "../../testdata/inputs.txt")
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		CodeLine, plainWord,
		lineOf, endsSentence, FenceLine, codeNext, shortBlock, Heading, Clauses, ListItem, Unnumbered, courtesy,
		abbreviates, numberFollows,
		Squash, Clip, Trailing, breaks, CountLines, CutText, Quoted,
		HasAnyWord,
		BeginsAny, BeginsWord, HasAny, IsDigits, LastLine,
	)
	r.Check()
}
