package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// findUnmatched removes the edits by commands that replace text in place (sed -i, perl -pi) if
// the same command, or a look right after it, shows that nothing was replaced. Such a command
// ends with 0 and prints nothing, whether it found the text or not.
func (h *History) findUnmatched() {
	var recent []*Call // calls that replace in place, before which only looks stand
	h.eachCall(func(_ *Step, c *Call) {
		if !c.Answered || c.Command() == "" {
			recent = nil
			return
		}
		if replacesInPlace(c.Command()) {
			recent = append(recent, c)
		} else if c.deed() != deedLook {
			recent = nil
		}
		for _, edit := range recent {
			edit.dropUnmatched(c)
		}
	})
}

// replacesInPlace reports whether a command replaces text in a file.
func replacesInPlace(cmd string) bool { return len(replacements(cmd)) > 0 }

// replacements returns the new texts of the replacements of a command in place, by file. The
// text is "" if it is unknown, for example because a pattern makes it.
func replacements(cmd string) map[string]string {
	out := map[string]string{}
	if !prose.HasAny(cmd, []string{"sed -", "perl -"}) {
		return out
	}
	for _, simple := range shell.Split(shell.WithoutHeredocs(cmd)) {
		w := shell.WithoutPrefix(shell.Fields(simple))
		if len(w) == 0 || !slices.Contains([]string{"sed", "gsed", "perl"}, shell.Base(w[0])) {
			continue
		}
		text := newTextOf(w)
		for _, f := range fileops.SimpleOps(simple) {
			if f.Op == fileops.Edited {
				out[f.Path] = text
			}
		}
	}
	return out
}

// newTextOf returns the new text of the only script s/old/new/ among the words of a command.
func newTextOf(words []string) string {
	text, n := "", 0
	for _, word := range words[1:] {
		if len(word) < 4 || word[0] != 's' || !strings.ContainsRune("/|#,:@!~%", rune(word[1])) {
			continue
		}
		if parts := strings.Split(word[2:], word[1:2]); len(parts) == 3 {
			text, n = parts[1], n+1
		}
	}
	if n != 1 || len(text) < leastNew || strings.ContainsAny(text, `\&$*.[]^`) {
		return ""
	}
	return text
}

// leastNew is the minimum length of a new text whose absence shows that nothing was replaced.
const leastNew = 3

// dropUnmatched removes the edits of c that a look shows to have changed nothing. The look can
// be c itself.
func (c *Call) dropUnmatched(look *Call) {
	cmd, shown := shell.WithoutHeredocs(look.Command()), body(look.Result)
	if strings.Contains(cmd, "|") || prose.HasAny(cmd, []string{"git add", "git commit", "git stash"}) || running(look.Result) {
		return
	}
	for file, text := range replacements(c.Command()) {
		if !lacksDiff(cmd, shown, file) && !lacksText(cmd, shown, file, text) {
			continue
		}
		c.files = slices.DeleteFunc(c.files, func(f fileops.Op) bool {
			return f.Op == fileops.Edited && (f.Path == file || f.Named == file)
		})
	}
}

// lacksDiff reports whether a command compares the files with the last commit, and its output
// does not name a file.
func lacksDiff(cmd, shown, file string) bool {
	for _, simple := range shell.Split(cmd) {
		w := shell.WithoutPrefix(shell.Fields(simple))
		if len(w) < 2 || w[0] != "git" || w[1] != "diff" || slices.Contains(w, "--cached") || slices.Contains(w, "--staged") {
			continue
		}
		of := shell.Operands(w[2:])
		if len(of) > 0 && !(len(of) == 1 && of[0] == file) {
			continue
		}
		return !strings.Contains(shown, shell.Base(file))
	}
	return false
}

// lacksText reports whether a command searches a file for a text, and its output does not have it.
func lacksText(cmd, shown, file, text string) bool {
	if text == "" || strings.Contains(shown, text) {
		return false
	}
	for _, simple := range shell.Split(cmd) {
		w := shell.WithoutPrefix(shell.Fields(simple))
		if len(w) > 2 && slices.Contains([]string{"grep", "rg", "egrep", "fgrep"}, w[0]) && slices.Contains(w, text) && slices.Contains(w, file) {
			return !slices.ContainsFunc(w, func(o string) bool { return strings.HasPrefix(o, "-") && strings.ContainsAny(o, "vLo") }) && countsNone(shown)
		}
	}
	return false
}

// countsNone reports whether an output is empty, or is the number 0.
func countsNone(shown string) bool {
	for line := range strings.Lines(shown) {
		if line = strings.TrimSpace(line); line != "" && line != "0" && !framed(line) {
			return false
		}
	}
	return true
}
