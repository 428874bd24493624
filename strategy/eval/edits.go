package eval

import (
	"regexp"
	"slices"
	"strings"
)

// editTools are the tools of the known agents that change files.
var editTools = map[string]bool{"Edit": true, "Write": true, "MultiEdit": true, "NotebookEdit": true, "edit": true, "write": true, "create": true,
	"str_replace_editor": true, "str_replace_based_edit_tool": true, "str_replace": true, "write_file": true, "replace": true, "edit_file": true,
	"apply_patch": true, "insert": true, "multiedit": true, "patch": true}

var patchHeader = regexp.MustCompile(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$`)

// edited notes the files that a call of an edit tool changed.
func (f *Facts) edited(c call) {
	if cmd := c.text("command"); cmd == "view" || cmd == "undo_edit" {
		return
	}
	path := c.text("file_path", "filePath", "path", "notebook_path", "filename", "target_file")
	if path != "" {
		f.change(path)
		return
	}
	for _, m := range patchHeader.FindAllStringSubmatch(c.text("input", "patchText", "patch")+"\n"+rawPatch(c), -1) {
		f.change(strings.TrimSpace(m[1]))
	}
}

// rawPatch is the patch of a call whose arguments are no JSON.
func rawPatch(c call) string {
	if c.args == nil {
		return c.raw
	}
	return ""
}

func (f *Facts) change(path string) {
	if !slices.Contains(f.Changed, path) {
		f.Changed = append(f.Changed, path)
	}
}
