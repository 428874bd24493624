package strategy

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// proseFormats are the extensions of text formats. A change of such a file declares nothing.
var proseFormats = []string{".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt", ".org"}

// settingFormats are the extensions of settings files.
var settingFormats = []string{".yaml", ".yml", ".toml", ".ini", ".cfg"}

// Limits of the quotation of new text.
const (
	headingsHere = 2  // quoted headings
	headingChars = 60 // characters of one heading or line
)

// newText describes the text that an edit adds to a file without declarations: its new
// headings, or else its first new line. The edit replaces the text old.
func newText(file, old, added string) []string {
	ext := extension(file)
	if !slices.Contains(proseFormats, ext) && !slices.Contains(settingFormats, ext) {
		return nil
	}
	had := map[string]bool{}
	for line := range strings.Lines(old) {
		had[strings.TrimSpace(line)] = true
	}
	first := ""
	var code prose.Fence
	var headings []string
	for whole := range strings.Lines(added[:min(len(added), 64<<10)]) {
		line := strings.TrimSpace(whole)
		inCode := headingSigns[ext] != "" && code.Takes(line)
		if had[line] || inCode && strings.Trim(line[:min(len(line), 3)], "`~") == "" || !strings.ContainsFunc(line, unicode.IsLetter) {
			continue
		}
		if first == "" {
			first = line
		}
		if head := headingIn(ext, whole); head != "" && !inCode {
			headings = prose.AppendNew(headings, prose.Clip(prose.Squash(head), headingChars))
		}
	}
	if len(headings) == 0 && first != "" {
		return []string{prose.Clip(prose.Squash(first), headingChars)}
	}
	return headings
}

// extension returns the extension of a file in lower case.
func extension(file string) string { return strings.ToLower(path.Ext(pathKey(file))) }

// quotedNew quotes the newest texts that edits added to a file. It returns "" if there are none.
func quotedNew(added []string) string {
	added = added[max(0, len(added)-headingsHere):]
	if len(added) == 0 {
		return ""
	}
	return "“" + strings.Join(added, "”, “") + "”"
}

// throwaway reports whether a file lies directly in a folder for temporary files.
// Files in its subfolders do not count, because they may belong to a project.
func throwaway(file string) bool {
	switch dir := strings.ToLower(path.Dir(pathKey(file))); dir {
	case "/tmp", "/var/tmp", "/private/tmp":
		return true
	default:
		return strings.HasSuffix(dir, "/appdata/local/temp")
	}
}

// wroteHeads begin lines in which a script says that it wrote a file.
var wroteHeads = []string{"updated", "wrote", "modified", "patched", "rewrote", "saved", "fixed", "edited", "changed"}

// findWritten adds the changes of known files that scripts report in their output. The
// output may be the only trace of such a change.
func (h *History) findWritten() {
	known := map[string]bool{}
	for _, f := range h.Previous.files() {
		known[h.key(f.Path)] = true
	}
	h.eachCall(func(_ *Step, c *Call) {
		if c.Outcome != Failed && c.runsScript() {
			for _, file := range saysWritten(c.Result) {
				same := func(f fileOp) bool { return f.Op >= opEdited && h.key(f.Path) == h.key(file) }
				if file = h.knownAs(file, known); file != "" && !slices.ContainsFunc(c.files, same) {
					c.files = append(c.files, fileOp{Path: file, Op: opEdited})
				}
			}
		}
		for _, f := range c.files {
			known[h.key(f.Path)] = true
		}
	})
}

// knownAs returns the path of a known file. A file matches by its whole path, or by the
// end of its path if only one known file has this end. For other files it returns "".
func (h *History) knownAs(file string, known map[string]bool) string {
	if known[h.key(file)] {
		return file
	}
	whole := ""
	for k := range known {
		if strings.Contains(file, "/") && strings.HasSuffix(k, "/"+strings.TrimPrefix(file, "./")) {
			if whole != "" {
				return ""
			}
			whole = k
		}
	}
	return whole
}

// runsScript reports whether a command runs a script, from a file or from its own text.
func (c *Call) runsScript() bool {
	if c.Command() == "" || c.Check() {
		return false
	}
	return slices.ContainsFunc(c.files, func(f fileOp) bool { return f.Op == opRan }) ||
		shell.Any(c.Command(), func(simple string) bool {
			word, _, _ := strings.Cut(simple, " ")
			return slices.Contains([]string{"python", "python3", "node", "ruby", "perl", "deno", "bun"}, shell.Base(word)) || strings.HasPrefix(word, "./")
		})
}

// saysWritten returns the files that an output reports as written: "Updated a/b.py".
func saysWritten(result string) (out []string) {
	for line := range strings.Lines(bothEnds(result)) {
		words := strings.Fields(line)
		if len(words) < 2 || len(words) > 4 || !slices.Contains(wroteHeads, strings.ToLower(strings.TrimRight(words[0], ":"))) {
			continue
		}
		for _, w := range words[1:] {
			if w = strings.TrimRight(strings.Trim(w, "`'\":,"), "."); isFilePath(w) && !strings.ContainsAny(w, "()=") {
				out = prose.AppendNew(out, w)
				break
			}
		}
	}
	return out
}
