package strategy

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// shellWords are the languages, and words in the names of tools, of code that is a command line.
var shellWords = []string{"sh", "shell", "bash", "zsh", "powershell", "pwsh", "terminal", "cmd", "command"}

// runsCode reports whether a call runs code of a language such as Python, as a notebook does, and
// not a command line.
func (c *Call) runsCode() bool {
	code := c.arg("code")
	if code == "" || c.Command() != code {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(c.Tool+"_"+c.arg("language", "lang")), func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' })
	for _, w := range words {
		for _, s := range shellWords {
			if w == s {
				return false
			}
		}
	}
	return true
}

// codeOps returns the changes of files by the code of a call, and by its lines that begin with "!".
// Code that raised an exception ran only up to its line.
func (c *Call) codeOps() (out []fileops.Op) {
	code := c.arg("code")
	if c.Outcome == Failed {
		code = firstLinesOf(code, raisedAt(c.Result)-1)
	}
	for line := range strings.Lines(code) {
		if cmd, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			out = append(out, fileops.OfCommand(cmd)...)
		}
	}
	return append(out, fileops.OfScript(code)...)
}

// firstLinesOf returns the first n lines of a text.
func firstLinesOf(text string, n int) string {
	at := 0
	for line := range strings.Lines(text) {
		if n--; n < 0 {
			break
		}
		at += len(line)
	}
	return text[:at]
}

// cellLine matches the place of an exception in the code of a notebook.
var cellLine = lazy.Compile(`(?m)(?:^(?:Input |Cell )In ?\[\d+\], (?:in )?line:? (\d+)|^-+> (\d+) |File "<(?:stdin|string|ipython-input[^>]*|cell[^>]*)>", line (\d+))`)

// raisedAt returns the line of a code at which it raised an exception, 1 if the traceback does not
// tell.
func raisedAt(traceback string) int {
	for _, m := range cellLine.FindAllStringSubmatch(traceback[:min(len(traceback), maxReport)], 1) {
		if n, err := strconv.Atoi(cmp.Or(m[1], m[2], m[3])); err == nil {
			return n
		}
	}
	return 1
}
