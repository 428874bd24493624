package jsonscan

import (
	"testing"

	"github.com/agentcompact/compact/internal/recorded"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := recorded.Inputs(t, "testdata/inputs.txt", 2000)
	r := recorded.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		syntaxError, Check, skipWord, skipString, skipEscape, skipNumber, skipDigits, skipArray, skipKey, after,
		Space, Value, stringSpan, nested, next, Strip,
		unescaped, Split,
		special, Unquote, appendPlain, appendUnescaped, hexRune, isHex, AppendQuote, unusual, appendEscape,
	)
	r.Check()
}
