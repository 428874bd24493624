package fileops

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// Patterns in scripts of Python, JavaScript and R: a variable with a path, and calls that write a
// file, whose name is a text, such a variable, or a name in the folder of such a variable.
const (
	aPath   = `(["'][^"'\n]+["']|\w+ */ *["'][^"'\n]+["']|\w+)`
	aObject = `[^,\n]+, *(?:file *= *|path *= *)?`
)

var (
	pathVariable = lazy.Compile(`(?m)(?:^|[;{] *)(?:const |let |var )?(\w+) *(?:=|<-) *(?:(?:pathlib\.)?Path\()?["']([^"'\n]+)["']`)
	fileWrites   = []*lazy.Pattern{
		lazy.Compile(`\bopen\( *` + aPath + ` *, *(?:mode=)?["'][wax]`),
		lazy.Compile(`(\w+)\.write_(?:text|bytes)\(`),
		lazy.Compile(`\((\w+ */ *["'][^"'\n]+["'])\)\.write_(?:text|bytes)\(`),
		lazy.Compile(`\bPath\( *(["'][^"'\n]+["']|\w+) *\)\.(?:write_text|write_bytes|open\( *["'][wa])`),
		lazy.Compile(`\b(?:writeFile|appendFile|writeTextFile|Bun\.write)(?:Sync)?\( *` + aPath),
		lazy.Compile(`\.to_(?:csv|parquet|json|excel|pickle|feather|html|markdown|latex|hdf|stata|xml)\(\s*(?:path_or_buf *= *|path *= *)?` + aPath),
		lazy.Compile(`\b(?:savefig|imwrite|imsave|save_image|write_image|write_html|ggsave|savetxt|savez|savez_compressed|np\.save|numpy\.save)\(\s*(?:filename *= *|fname *= *)?` + aPath),
		lazy.Compile(`\w\.save\(\s*` + aPath + ` *[,)]`),
		lazy.Compile(`\b(?:torch\.save|joblib\.dump|write[._](?:csv|tsv|table|rds|parquet|delim)|saveRDS|fwrite)\(` + aObject + aPath),
	}
	fileReads = []*lazy.Pattern{
		lazy.Compile(`\bopen\( *` + aPath + ` *(?:, *(?:mode=)?["']r[^"']*["'])?(?:, *\w+=[^,)]+)?\)`),
		lazy.Compile(`\b(?:read_(?:csv|parquet|json|excel|feather|pickle|table)|load|load_workbook|imread|readRDS|read\.csv)\( *` + aPath),
	}
	fileAppends = lazy.Compile(`, *(?:mode=)?["']a[bt+]*["']`)
)

// scriptOps returns the changes of files by a script of Python, JavaScript or R. A script that
// also reads the text of files, or appends, edits them.
func scriptOps(script string) (out []Op) {
	var paths []string
	named := map[string]string{}
	for _, m := range pathVariable.FindAllStringSubmatch(script, maxScriptFiles) {
		named[m[1]] = m[2]
	}
	for _, p := range fileWrites {
		for _, m := range p.FindAllStringSubmatch(script, maxScriptFiles) {
			paths = prose.AppendNew(paths, pathOf(m[1], named))
		}
	}
	edits := prose.HasAny(script, []string{".read(", "read_text", "readFileSync", "readFile(", "appendFile"}) || fileAppends.MatchString(script)
	read := readIn(script, named)
	for _, p := range paths {
		op := Created
		if edits || slices.Contains(read, p) {
			op = Edited
		}
		out = appendFiles(out, op, p)
	}
	return out
}

// readIn returns the files that a script reads.
func readIn(script string, named map[string]string) (out []string) {
	for _, p := range fileReads {
		for _, m := range p.FindAllStringSubmatch(script, maxScriptFiles) {
			out = append(out, pathOf(m[1], named))
		}
	}
	return out
}

// pathOf returns the path that an expression of a script names: a text, a variable, or a text in the
// folder of a variable.
func pathOf(expression string, named map[string]string) string {
	folder, name, ok := strings.Cut(expression, "/")
	folder, name = strings.TrimSpace(folder), strings.TrimSpace(name)
	switch {
	case strings.ContainsAny(expression[:1], `"'`):
		return strings.Trim(expression, `"'`)
	case !ok:
		return named[expression]
	case named[folder] == "":
		return ""
	}
	return strings.TrimSuffix(named[folder], "/") + "/" + strings.Trim(name, `"'`)
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
