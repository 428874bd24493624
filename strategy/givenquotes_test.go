package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The names in a file of instructions are quoted only with a word of the task, and the place is
// named.
func TestFileOfInstructionsIsQuotedForTheTask(t *testing.T) {
	file := "# AGENTS.md instructions for /work/shop\n\n<INSTRUCTIONS>\n| surface | rule |\n| packages ('@shop/core', '@shop/sdk') | ask before publishing |\nThe importer lives in `packages/importer/batchLoader.ts`.\n" + strings.Repeat("A line that is about nothing in particular stands here.\n", 60) + "</INSTRUCTIONS>"
	msgs := append([]message.Message{message.User(file)}, long("Make the importer faster.", message.Assistant("On it.")).Messages...)
	text := write4(t, Input{Messages: msgs})
	if strings.Contains(text, "the text given") || strings.Contains(text, "@shop/sdk") {
		t.Errorf("it reads:\n%s", text)
	}
}
