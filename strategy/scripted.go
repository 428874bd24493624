package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// notWritten lists words with which a script reports that it found nothing to change.
var notWritten = []string{"not found", "could not", "couldn't", "cannot", "no match", "no change", "nothing", "failed", "error", "traceback", "skipp", "already"}

// findScripted adds the changes of files by scripts that the agent wrote into a file and then
// ran. The command that runs the script does not name these files.
func (h *History) findScripted() {
	scripts := map[string]string{} // texts by file
	h.eachCall(func(_ *Step, c *Call) {
		for file, text := range c.scripts() {
			scripts[h.key(file)] = text
		}
		known := func(f fileops.Op) bool { return f.Op == fileops.Ran && scripts[h.key(f.Path)] != "" }
		if c.Outcome == Failed || !slices.ContainsFunc(c.files, known) || prose.HasAny(strings.ToLower(bothEnds(c.Result)), notWritten) {
			return
		}
		for _, run := range slices.Clone(c.files) {
			if !known(run) {
				continue
			}
			dir := ""
			if run.Named != "" {
				dir = strings.TrimSuffix(run.Path, run.Named)
			}
			for _, f := range fileops.OfScript(scripts[h.key(run.Path)]) {
				f.Path = shell.InFolder(dir, strings.TrimPrefix(f.Path, "./"))
				if !slices.ContainsFunc(c.files, func(o fileops.Op) bool { return o.Op >= fileops.Edited && h.key(o.Path) == h.key(f.Path) }) {
					c.files = append(c.files, f)
				}
			}
		}
	})
}

// scripts returns the texts of the files that a call creates, by file.
func (c *Call) scripts() map[string]string {
	out := map[string]string{}
	cmd := c.Command()
	if cmd == "" {
		for _, f := range c.files {
			if text := c.arg(newTextArgs...); f.Op == fileops.Created && text != "" {
				out[f.Path] = text
			}
		}
		return out
	}
	file, end, start, at := "", "", 0, 0
	for raw := range strings.Lines(cmd) {
		line := strings.TrimSpace(raw)
		at += len(raw)
		switch {
		case end != "" && line == end:
			if file != "" {
				out[file] = cmd[start : at-len(raw)]
			}
			end = ""
		case end == "":
			if end = shell.HeredocEnd(line); end != "" {
				file, start = c.createdIn(line), at
			}
		}
	}
	return out
}

// createdIn returns the file that a line of the command creates, as the call's operations
// name it, "" if there is none.
func (c *Call) createdIn(line string) string {
	for _, o := range fileops.OfCommand(line) {
		for _, f := range c.files {
			if o.Op == fileops.Created && f.Op == fileops.Created && (f.Path == o.Path || f.Named == o.Path || f.Path == strings.TrimPrefix(o.Named, "./")) {
				return f.Path
			}
		}
	}
	return ""
}
