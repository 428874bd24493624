package token

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Inputs(t, "testdata/inputs.txt", 2000)
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		blob,
		quoted,
		isText,
		isMostlyWide, prose, code,
		EncodingForModel, baseName,
		unescaped, decodeBase64, pdfPages, countPages, behindType, inWord, packedStream,
		claudeRule, acceptsLargeImages,
		dataURLSize, pictureSize, jpegSize, webpSize,
		schemaCostFor, hasOwnRule,
		ContextWindow, KnowsContextWindow, listed,
	)
	r.Check()
}
