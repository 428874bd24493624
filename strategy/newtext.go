package strategy

import (
	"path"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// throwaway reports whether a file lies directly in a folder for temporary files.
// Files in its subfolders do not count, because they may belong to a project.
func throwaway(file string) bool {
	switch dir := strings.ToLower(path.Dir(fileops.Key(file))); dir {
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
				same := func(f fileops.Op) bool { return f.Op >= fileops.Edited && h.key(f.Path) == h.key(file) }
				if file = h.knownAs(file, known); file != "" && !slices.ContainsFunc(c.files, same) {
					c.files = append(c.files, fileops.Op{Path: file, Op: fileops.Edited})
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
	return slices.ContainsFunc(c.files, func(f fileops.Op) bool { return f.Op == fileops.Ran }) ||
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
			if w = strings.TrimRight(strings.Trim(w, "`'\":,"), "."); fileops.IsPath(w) && !strings.ContainsAny(w, "()=") {
				out = prose.AppendNew(out, w)
				break
			}
		}
	}
	return out
}
