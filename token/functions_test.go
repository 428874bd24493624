package token

import (
	"testing"

	"github.com/agentcompact/compact/internal/recorded"
)

// The functions of texts return what is recorded for the texts of the tests.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := recorded.Inputs(t, "testdata/inputs.txt", 2000)
	r := recorded.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		builtin,
		blob,
		ForEncoding,
		quoted,
		isText, mediaFor, pictureRuleOf,
		isMostlyWide, prose, code,
		EncodingForModel, baseName, ForModel,
		unescaped, decodeBase64, pdfPages, countPages, behindType, inWord, packedStream,
		claudeRule, acceptsLargeImages,
		dataURLSize, pictureSize, jpegSize, webpSize,
		schemaCostFor, hasOwnRule,
		ContextWindow, KnowsContextWindow, listed,
	)
	r.Check()
}
