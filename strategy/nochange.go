package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Beginnings of the results of editing tools that changed nothing, and phrases in their first
// sentence. The next sentence can be about another file.
var (
	unchangedHeads = []string{"no change", "no edits", "nothing to change", "nothing changed", "file unchanged", "unchanged", "0 replacements", "0 edits", "0 changes", "made 0 ",
		"unable to apply", "could not apply", "the file was not changed", "the file was not modified", "file was not modified", "file not changed", "file not modified", "patch does not apply"}
	unchangedPhrases = []string{"no changes were made", "no changes made", "no changes needed", "content is identical", "contents are identical", "is already up to date", "has not been changed", "has not been modified", "was not changed", "was not modified",
		" 0 replacements", " 0 occurrences", "are exactly the same", "are identical"}
)

// changedNothing reports whether the result of a tool that changes files says that it changed
// nothing. The first line of the result of a patch of several files is about one of them.
func (c *Call) changedNothing() bool {
	if c.Command() != "" || c.op() < fileops.Edited || len(c.Result) > edge || len(c.patchedFiles()) > 1 {
		return false
	}
	line := strings.ToLower(firstLine(body(c.Result)))
	line, _, _ = strings.Cut(line, ". ")
	line, _, _ = strings.Cut(line, "; ")
	return prose.BeginsAny(line, unchangedHeads) || prose.HasAny(strings.ReplaceAll(line, "(", " "), unchangedPhrases)
}
