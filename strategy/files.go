package strategy

import (
	"path"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A fileOpKind is the operation of a call on a file.
type fileOpKind uint8

// The operations, in order of importance, the most important last.
const (
	opRead fileOpKind = iota
	opRan
	opEdited
	opCreated
	opRenamed
	opDeleted
	opTookBack // took back changes; no state of a file
)

var opNames = [...]string{"read", "ran", "edited", "created", "renamed", "deleted", "took back"}

// String returns the word that summaries use.
func (o fileOpKind) String() string { return opNames[o] }

// A fileOp is one operation of a call on one file.
type fileOp struct {
	Path  string
	From  string // previous path of a renamed file
	Op    fileOpKind
	Funcs []string // functions, types and classes that the change touches
	Added []string // new headings or the first new line, for files of text and settings
	named string   // the path as the call writes it, if Path differs
	back  int      // number of changes that opTookBack took back
	all   bool     // opTookBack took back all changes of the file
	kept  int      // number of the step of the last change that opTookBack left
}

var pathArgs = map[string]bool{"path": true, "file_path": true, "filePath": true, "filepath": true, "filename": true, "file_name": true,
	"file": true, "filepaths": true, "file_paths": true, "paths": true, "notebook_path": true, "target_file": true, "relative_path": true}

var patchArgs = map[string]bool{"patch": true, "diff": true, "patchText": true, "input": true, "patch_text": true, "changes": true}

// newTextArgs lists the arguments that hold the new text of a file.
var newTextArgs = []string{"new_string", "new_str", "newText", "newString", "content", "contents", "file_text", "text", "code_edit", "new_source", "replace", "new"}

// fileOps returns the file operations of a call, as its arguments state them. For a failed
// call it returns only the changes by the commands before the failed check.
func fileOps(c *Call) []fileOp {
	if c.Outcome == Failed {
		return slices.DeleteFunc(commandOps(c.beforeCheck()), func(f fileOp) bool { return f.Op < opEdited })
	}
	var out []fileOp
	for _, a := range c.Args {
		if patchArgs[a.Name] {
			out = append(out, patchOps(a.Value)...)
		}
	}
	if len(out) > 0 {
		return out
	}
	if cmd := c.Command(); cmd != "" && strings.ContainsAny(cmd, " \n") {
		return commandOps(cmd)
	}
	if from, to := c.renames(); to != "" {
		return []fileOp{{Path: to, From: from, Op: opRenamed}}
	}
	for _, a := range c.Args {
		if pathArgs[a.Name] && isFilePath(a.Value) && c.touches() {
			op := c.op()
			f := fileOp{Path: a.Value, Op: op}
			if op == opEdited || op == opCreated {
				added := c.arg(newTextArgs...)
				f.Funcs, f.Added = declared(added), newText(f.Path, c.arg(oldTextArgs...), added)
			}
			out = append(out, f)
		}
	}
	return out
}

// renames returns the paths of a call that moves a file, "" for other calls.
func (c *Call) renames() (from, to string) {
	if !hasWord(strings.ToLower(c.Tool+"_"+c.arg("command", "action", "operation")), []string{"rename", "move", "mv"}) {
		return "", ""
	}
	from = c.arg("old_path", "oldPath", "source", "source_path", "sourcePath", "src", "from", "path", "file_path")
	to = c.arg("new_path", "newPath", "destination", "destination_path", "target_path", "dst", "dest", "to", "target")
	if name := c.arg("new_name", "newName"); to == "" && isFilePath(from) && !strings.Contains(name, "/") {
		to = path.Join(path.Dir(from), name)
	}
	if !isFilePath(from) || !isFilePath(to) {
		return "", ""
	}
	return from, to
}

// isFilePath reports whether an argument names one file, not a pattern, a
// folder or a sentence.
func isFilePath(s string) bool {
	return s != "" && len(s) < 400 && !strings.ContainsAny(s, "*?\n\"<>|") && !strings.HasSuffix(s, "/") &&
		(strings.Contains(path.Base(s), ".") || strings.Count(s, "/") > 1) && s != "." && s != ".."
}

// verbs maps parts of a tool's name or command argument to operations.
var verbs = []struct {
	part string
	op   fileOpKind
}{
	{"delete", opDeleted}, {"remove", opDeleted}, {"create", opCreated}, {"write", opCreated},
	{"str_replace", opEdited}, {"edit", opEdited}, {"replace", opEdited}, {"insert", opEdited}, {"patch", opEdited}, {"update", opEdited}, {"undo", opEdited},
	{"run", opRan}, {"exec", opRan}, {"view", opRead}, {"read", opRead}, {"open", opRead}, {"get", opRead}, {"cat", opRead},
}

func (c *Call) op() fileOpKind {
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
	case c.arg("old_string", "old_str", "oldText", "oldString") != "":
		return opEdited
	case c.arg("content", "contents", "file_text") != "":
		return opCreated
	}
	return opRead
}

// maxOps is the maximum number of file operations that are read from one patch.
const maxOps = 500

// patchOps reads a unified diff or an apply_patch envelope.
func patchOps(patch string) []fileOp {
	var r patchReader
	for line := range strings.Lines(patch) {
		if len(r.out) > maxOps {
			break
		}
		if line = strings.TrimRight(line, "\r\n"); r.header(line) {
			r.headed, r.fence = false, ""
		} else {
			r.body(line)
		}
	}
	return r.out
}

// patchReader reads a patch line by line, in the form of apply_patch or of diff.
type patchReader struct {
	out        []fileOp
	old, moved string      // the file's old name from an earlier line
	headed     bool        // the last named file has new headings
	fence      prose.Fence // the open block of code in a text
}

func (r *patchReader) last() *fileOp {
	if len(r.out) == 0 {
		return nil
	}
	return &r.out[len(r.out)-1]
}

// header processes a line that names a file, and reports whether it is one.
func (r *patchReader) header(line string) bool {
	switch {
	case cutTo(&line, "*** Add File: "):
		r.out = append(r.out, fileOp{Path: line, Op: opCreated})
	case cutTo(&line, "*** Update File: "):
		r.out = append(r.out, fileOp{Path: line, Op: opEdited})
	case cutTo(&line, "*** Delete File: "):
		r.out = append(r.out, fileOp{Path: line, Op: opDeleted})
	case cutTo(&line, "*** Move to: "):
		if f := r.last(); f != nil {
			f.From, f.Path, f.Op = f.Path, line, opRenamed
		}
	case cutTo(&line, "rename from "):
		r.moved = line
	case r.moved != "" && cutTo(&line, "rename to "):
		r.out = append(r.out, fileOp{Path: line, From: r.moved, Op: opRenamed})
		r.moved = ""
	case cutTo(&line, "--- "):
		r.old = diffPath(line)
	case r.old != "" && cutTo(&line, "+++ "):
		if f := r.last(); f == nil || f.Op != opRenamed || f.Path != diffPath(line) {
			r.out = append(r.out, diffOp(r.old, diffPath(line)))
		}
		r.old = ""
	default:
		return false
	}
	return true
}

// body processes a line about the last named file.
func (r *patchReader) body(line string) {
	f := r.last()
	if f == nil {
		return
	}
	switch {
	case strings.HasPrefix(line, " "):
		r.fence.Takes(line[1:])
	case strings.HasPrefix(line, "@@"):
		r.fence = ""
		_, context, _ := strings.Cut(line[2:], "@@")
		if context == "" {
			context = line[2:]
		}
		f.add(declaration(strings.TrimSpace(context)))
	case strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-"):
		f.add(declaration(strings.TrimSpace(line[1:])))
		if line[0] == '+' {
			r.added(f, line[1:])
		}
	}
}

func cutTo(line *string, prefix string) bool {
	rest, ok := strings.CutPrefix(*line, prefix)
	if ok {
		*line = rest
	}
	return ok
}

// diffPath returns the path in a header of a unified diff.
func diffPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(s, "b/")
}

func diffOp(from, to string) fileOp {
	switch {
	case from == "/dev/null":
		return fileOp{Path: to, Op: opCreated}
	case to == "/dev/null":
		return fileOp{Path: from, Op: opDeleted}
	}
	return fileOp{Path: to, Op: opEdited}
}

// maxFuncs is the maximum number of touched functions kept for one change.
const maxFuncs = 12

func (f *fileOp) add(name string) {
	if name != "" && len(f.Funcs) < maxFuncs && !slices.Contains(f.Funcs, name) {
		f.Funcs = append(f.Funcs, name)
	}
}

// declared returns the functions, types and classes that a text declares.
func declared(text string) []string {
	var f fileOp
	for line := range strings.Lines(text[:min(len(text), 64<<10)]) {
		f.add(declaration(strings.TrimSpace(line)))
	}
	return f.Funcs
}
