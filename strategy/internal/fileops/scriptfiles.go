package fileops

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// Patterns in scripts of Python and JavaScript: a variable with a path, and calls that write
// a file, whose name is a text or such a variable.
var (
	pathVariable = lazy.Compile(`(?m)(?:^|[;{] *)(?:const |let |var )?(\w+) *= *(?:(?:pathlib\.)?Path\()?["']([^"'\n]+)["']`)
	fileWrites   = []*lazy.Pattern{
		lazy.Compile(`\bopen\( *(["'][^"'\n]+["']|\w+) *, *(?:mode=)?["'][wax]`),
		lazy.Compile(`(\w+)\.write_(?:text|bytes)\(`),
		lazy.Compile(`\bPath\( *(["'][^"'\n]+["']|\w+) *\)\.(?:write_text|write_bytes|open\( *["'][wa])`),
		lazy.Compile(`\b(?:write|append)FileSync\( *(["'][^"'\n]+["']|\w+)`),
	}
)

// scriptOps returns the changes of files by a script of Python or JavaScript. A script that
// also reads files, or appends, edits them.
func scriptOps(script string) (out []Op) {
	var paths []string
	named := map[string]string{}
	for _, m := range pathVariable.FindAllStringSubmatch(script, maxScriptFiles) {
		named[m[1]] = m[2]
	}
	for _, p := range fileWrites {
		for _, m := range p.FindAllStringSubmatch(script, maxScriptFiles) {
			name := m[1]
			if unquotedName := strings.Trim(name, `"'`); unquotedName != name {
				name = unquotedName
			} else {
				name = named[name]
			}
			paths = prose.AppendNew(paths, name)
		}
	}
	op := Created
	if prose.HasAny(script, []string{".read(", "read_text", "readFileSync", "appendFileSync", ", 'a", `, "a`, ",'a", `,"a`}) {
		op = Edited
	}
	return appendFiles(out, op, paths...)
}

// maxScriptFiles is the maximum number of files that are read from one script.
const maxScriptFiles = 40

// scriptPrograms are programs that run a script from a here-document or an option.
var scriptPrograms = []string{"python", "python3", "node"}

// RunsScript reports whether the last part of a command line before a here-document runs it as
// a script.
func RunsScript(line string) bool {
	before, _, _ := strings.Cut(line, "<<")
	parts := shell.Split(before)
	w := shell.WithoutPrefix(shell.Fields(parts[len(parts)-1]))
	return len(w) > 0 && slices.Contains(scriptPrograms, shell.Base(w[0])) && len(shell.Operands(w[1:])) == 0
}

// OfScript returns the changes of files by the text of a script of Python or JavaScript.
func OfScript(text string) []Op { return scriptOps(text) }
