package eval

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// editTools lists the tools of known agents that change files.
var editTools = map[string]bool{"Edit": true, "Write": true, "MultiEdit": true, "NotebookEdit": true, "edit": true, "write": true, "create": true,
	"str_replace_editor": true, "str_replace_based_edit_tool": true, "str_replace": true, "write_file": true, "replace": true, "edit_file": true,
	"apply_patch": true, "insert": true, "multiedit": true, "patch": true}

var patchHeader = lazy.Compile(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$`)

// edited calls note for each file of a call of an edit tool.
func (f *Facts) edited(c call, note func(path string)) {
	if cmd := c.text("command"); cmd == "view" || cmd == "undo_edit" {
		return
	}
	path := c.text("file_path", "filePath", "path", "notebook_path", "filename", "target_file")
	if path != "" {
		note(path)
		return
	}
	for _, m := range patchHeader.FindAllStringSubmatch(c.text("input", "patchText", "patch")+"\n"+rawPatch(c), -1) {
		note(strings.TrimSpace(m[1]))
	}
}

// rawPatch returns the patch of a call whose arguments are not JSON.
func rawPatch(c call) string {
	if c.args == nil {
		return c.raw
	}
	return ""
}

// refuse records a file that an edit tool did not change.
func (f *Facts) refuse(path string) {
	if !slices.Contains(f.Refused, path) && !slices.Contains(f.Changed, path) {
		f.Refused = append(f.Refused, path)
	}
}

func (f *Facts) change(path string) {
	f.Refused = slices.DeleteFunc(f.Refused, func(p string) bool { return p == path })
	if !slices.Contains(f.Changed, path) {
		f.Changed = append(f.Changed, path)
	}
}
