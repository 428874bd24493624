package jsonscan

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Inputs(t, "testdata/inputs.txt", 2000)
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		syntaxError, Check, skipWord, skipString, skipEscape, skipNumber, skipDigits, skipArray, skipKey, after,
		Space, Value, stringSpan, nested, next, Strip,
		unescaped, Split,
		special, Unquote, appendPlain, appendUnescaped, hexRune, isHex, AppendQuote, unusual, appendEscape,
	)
	r.Check()
}
