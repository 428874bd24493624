package strategy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

var pathArgs = map[string]bool{"path": true, "file_path": true, "filePath": true, "filepath": true, "filename": true, "file_name": true,
	"file": true, "filepaths": true, "file_paths": true, "paths": true, "notebook_path": true, "target_file": true, "relative_path": true}

var patchArgs = map[string]bool{"patch": true, "diff": true, "patchText": true, "input": true, "patch_text": true, "changes": true}

// newTextArgs lists the arguments that hold the new text of a file.
var newTextArgs = []string{"new_string", "new_str", "newText", "newString", "content", "contents", "file_text", "new_text", "text", "code_edit", "new_source", "replace", "new"}

// fileOps returns the file operations of a call, as its arguments state them. For a failed
// call it returns only the changes by the commands before the failed check.
func fileOps(c *Call) []fileops.Op {
	if c.runsCode() {
		return c.codeOps()
	}
	if c.Outcome == Failed {
		return slices.DeleteFunc(fileops.OfCommand(c.beforeCheck()), func(f fileops.Op) bool { return f.Op < fileops.Edited })
	}
	if c.rehearses() {
		return nil
	}
	var out []fileops.Op
	for _, a := range c.Args {
		if patchArgs[a.Name] {
			out = append(out, fileops.OfPatch(a.Value)...)
		}
	}
	if len(out) > 0 {
		return out
	}
	if cmd := c.Command(); cmd != "" && strings.ContainsAny(cmd, " \n") {
		return append(c.withoutUnread(fileops.OfStopped(cmd, linesRun(c.Result))), c.patched()...)
	}
	if from, to := c.renames(); to != "" {
		return []fileops.Op{{Path: to, From: from, Op: fileops.Renamed}}
	}
	for _, a := range c.Args {
		if pathArgs[a.Name] && fileops.IsPath(a.Value) && c.touches() {
			op := c.op()
			f := fileops.Op{Path: a.Value, Op: op, Last: op == fileops.TookBack}
			if f.Last && !c.undoes() {
				continue
			}
			if op == fileops.Edited || op == fileops.Created {
				added := c.arg(newTextArgs...)
				old := c.arg(oldTextArgs...)
				f.Funcs, f.Added = fileops.Declared(added), fileops.NewText(f.Path, old, added)
				if op == fileops.Edited && len(f.Funcs)+len(f.Added) == 0 {
					f.Added = fileops.NewLine(old, added)
				}
			}
			out = append(out, f)
		}
	}
	return out
}

// patchingFile begins the line in which the program patch names a file that it changes.
const patchingFile = "patching file "

// patched returns the files that the program patch changed, as its output names them. A file
// of which it refused all parts is unchanged.
func (c *Call) patched() (out []fileops.Op) {
	if !strings.Contains(c.Result, patchingFile) || !shell.Any(c.Command(), func(s string) bool { return prose.BeginsWord(s, "patch") && !strings.Contains(s, "--dry-run") }) {
		return nil
	}
	for line := range strings.Lines(c.Result) {
		line = strings.TrimSpace(line)
		if file, ok := strings.CutPrefix(line, patchingFile); ok && fileops.IsPath(strings.Trim(file, "'")) {
			out = append(out, fileops.Op{Path: strings.Trim(file, "'"), Op: fileops.Edited})
		}
		refused, rest, ok := strings.Cut(line, " out of ")
		if all, _, _ := strings.Cut(rest, " "); ok && refused == all && strings.Contains(rest, "FAILED") && len(out) > 0 {
			out = out[:len(out)-1]
		}
	}
	return out
}

// linesRun returns how many lines of a Python script in a here-document or an option ran before
// an uncaught exception, which Python reports with its line. It returns 0 for an error of
// syntax, and -1 if the output reports no exception.
func linesRun(output string) int {
	for line := range strings.Lines(output) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), `File "<stdin>", line `)
		if !ok {
			rest, ok = strings.CutPrefix(strings.TrimSpace(line), `File "<string>", line `)
		}
		number, where, _ := strings.Cut(rest, ",")
		n, err := strconv.Atoi(number)
		switch {
		case !ok || err != nil:
		case where == "":
			return 0
		case strings.TrimSpace(where) == "in <module>":
			return n - 1
		}
	}
	return -1
}

// renames returns the paths of a call that moves a file, "" for other calls.
func (c *Call) renames() (from, to string) {
	if !hasWord(strings.ToLower(c.Tool+"_"+c.arg("command", "action", "operation")), []string{"rename", "move", "mv"}) {
		return "", ""
	}
	from = c.arg("old_path", "oldPath", "source", "source_path", "sourcePath", "src", "from", "path", "file_path")
	to = c.arg("new_path", "newPath", "destination", "destination_path", "target_path", "dst", "dest", "to", "target")
	if name := c.arg("new_name", "newName"); to == "" && fileops.IsPath(from) && !strings.Contains(name, "/") {
		to = path.Join(path.Dir(from), name)
	}
	if !fileops.IsPath(from) || !fileops.IsPath(to) {
		return "", ""
	}
	return from, to
}

// verbs maps parts of a tool's name or command argument to operations.
var verbs = []struct {
	part string
	op   fileops.Kind
}{
	{"undo", fileops.TookBack}, {"delete", fileops.Deleted}, {"remove", fileops.Deleted}, {"create", fileops.Created}, {"write", fileops.Created},
	{"str_replace", fileops.Edited}, {"edit", fileops.Edited}, {"replace", fileops.Edited}, {"insert", fileops.Edited}, {"patch", fileops.Edited}, {"apply_diff", fileops.Edited}, {"apply_edit", fileops.Edited}, {"update", fileops.Edited},
	{"run", fileops.Ran}, {"exec", fileops.Ran}, {"view", fileops.Read}, {"read", fileops.Read}, {"open", fileops.Read}, {"get", fileops.Read}, {"cat", fileops.Read},
}

func (c *Call) op() fileops.Kind {
	names := []string{c.Tool}
	if cmd := c.arg("command", "action", "operation"); cmd != "" && !strings.ContainsAny(cmd, " \n/") {
		names = []string{cmd, c.Tool}
	}
	for _, n := range names {
		low := strings.ToLower(n)
		if strings.Contains(low, "editor") {
			continue
		}
		for _, v := range verbs {
			if strings.Contains(low, v.part) {
				return v.op
			}
		}
	}
	switch {
	case c.arg(oldTextArgs...) != "":
		return fileops.Edited
	case c.arg("content", "contents", "file_text", "new_text") != "":
		return fileops.Created
	}
	return fileops.Read
}
