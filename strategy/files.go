package strategy

import (
	"path"
	"slices"
	"strings"
)

// An Op is the operation of a call on a file.
type Op uint8

// The operations, in order of importance, the most important last.
const (
	Read Op = iota
	Ran
	Edited
	Created
	Renamed
	Deleted
)

var opNames = [...]string{"read", "ran", "edited", "created", "renamed", "deleted"}

// String returns the word that summaries use.
func (o Op) String() string { return opNames[o] }

// A FileOp is one operation of a call on one file.
type FileOp struct {
	Path  string
	From  string // previous path of a renamed file
	Op    Op
	Funcs []string // functions, types and classes that the change touches
	Added []string // of text and settings: new headings, or the first new line
	named string   // the path as the call writes it, if Path differs
}

var pathArgs = map[string]bool{"path": true, "file_path": true, "filePath": true, "filepath": true, "filename": true, "file_name": true,
	"file": true, "filepaths": true, "file_paths": true, "paths": true, "notebook_path": true, "target_file": true, "relative_path": true}

var patchArgs = map[string]bool{"patch": true, "diff": true, "patchText": true, "input": true, "patch_text": true, "changes": true}

// newTextArgs lists the arguments that hold the new text of a file.
var newTextArgs = []string{"new_string", "new_str", "newText", "newString", "content", "contents", "file_text", "text", "code_edit", "new_source", "replace", "new"}

// fileOps returns the file operations of a call, read from its arguments. A
// failed call has only those of what was done before its check failed.
func fileOps(c *Call) []FileOp {
	if c.Outcome == Failed {
		return slices.DeleteFunc(commandOps(c.beforeCheck()), func(f FileOp) bool { return f.Op < Edited })
	}
	var out []FileOp
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
		return []FileOp{{Path: to, From: from, Op: Renamed}}
	}
	for _, a := range c.Args {
		if pathArgs[a.Name] && isFilePath(a.Value) {
			op := c.op()
			f := FileOp{Path: a.Value, Op: op}
			if op == Edited || op == Created {
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
	op   Op
}{
	{"delete", Deleted}, {"remove", Deleted}, {"create", Created}, {"write", Created},
	{"str_replace", Edited}, {"edit", Edited}, {"replace", Edited}, {"insert", Edited}, {"patch", Edited}, {"update", Edited}, {"undo", Edited},
	{"run", Ran}, {"exec", Ran}, {"view", Read}, {"read", Read}, {"open", Read}, {"get", Read}, {"cat", Read},
}

func (c *Call) op() Op {
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
		return Edited
	case c.arg("content", "contents", "file_text") != "":
		return Created
	}
	return Read
}

// maxOps is the maximum number of file operations that are read from one patch.
const maxOps = 500

// patchOps reads a unified diff or an apply_patch envelope.
func patchOps(patch string) []FileOp {
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
	out        []FileOp
	old, moved string    // the file's old name from an earlier line
	headed     bool      // the last named file has new headings
	fence      codeFence //  around the lines of code of a text
}

func (r *patchReader) last() *FileOp {
	if len(r.out) == 0 {
		return nil
	}
	return &r.out[len(r.out)-1]
}

// header processes a line that names a file, and reports whether it is one.
func (r *patchReader) header(line string) bool {
	switch {
	case cutTo(&line, "*** Add File: "):
		r.out = append(r.out, FileOp{Path: line, Op: Created})
	case cutTo(&line, "*** Update File: "):
		r.out = append(r.out, FileOp{Path: line, Op: Edited})
	case cutTo(&line, "*** Delete File: "):
		r.out = append(r.out, FileOp{Path: line, Op: Deleted})
	case cutTo(&line, "*** Move to: "):
		if f := r.last(); f != nil {
			f.From, f.Path, f.Op = f.Path, line, Renamed
		}
	case cutTo(&line, "rename from "):
		r.moved = line
	case r.moved != "" && cutTo(&line, "rename to "):
		r.out = append(r.out, FileOp{Path: line, From: r.moved, Op: Renamed})
		r.moved = ""
	case cutTo(&line, "--- "):
		r.old = diffPath(line)
	case r.old != "" && cutTo(&line, "+++ "):
		if f := r.last(); f == nil || f.Op != Renamed || f.Path != diffPath(line) {
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
		r.fence.takes(line[1:])
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

func diffOp(from, to string) FileOp {
	switch {
	case from == "/dev/null":
		return FileOp{Path: to, Op: Created}
	case to == "/dev/null":
		return FileOp{Path: from, Op: Deleted}
	}
	return FileOp{Path: to, Op: Edited}
}

// maxFuncs is the maximum number of touched functions kept for one change.
const maxFuncs = 12

func (f *FileOp) add(name string) {
	if name != "" && len(f.Funcs) < maxFuncs && !slices.Contains(f.Funcs, name) {
		f.Funcs = append(f.Funcs, name)
	}
}

// declared returns the functions, types and classes that a text declares.
func declared(text string) []string {
	var f FileOp
	for line := range strings.Lines(text[:min(len(text), 64<<10)]) {
		f.add(declaration(strings.TrimSpace(line)))
	}
	return f.Funcs
}
