package strategy_test

import (
	"testing"

	"github.com/agentcompact/compact/strategy"
)

// The step after "edited" must be the step that edited the file. A later read of the file
// must not change it.
func TestFilesCiteStepOfLastChange(t *testing.T) {
	msgs := called("1", "edit", `{"path":"a/b.go","old_string":"x","new_string":"y"}`, "ok")
	msgs = append(msgs, called("2", "read", `{"path":"a/b.go"}`, "package b")...)
	msgs = append(msgs, called("3", "bash", `{"command":"cat a/b.go"}`, "package b")...)
	msgs = append(msgs, called("4", "read", `{"path":"a/c.go"}`, "package c")...)
	msgs = append(msgs, called("5", "read", `{"path":"a/c.go"}`, "package c")...)
	files := history(msgs...).Files()
	if len(files) != 2 || files[0].Path != "a/b.go" || files[0].Op != strategy.Edited || files[0].Last != 1 {
		t.Errorf("files %+v, want a/b.go edited in step 1 first", files)
	}
	if len(files) == 2 && files[1].Last != 9 {
		t.Errorf("file that was only read: %+v, want step 9", files[1])
	}
}

// Tools on Windows write a path with slashes or backslashes, but the line of a folder has
// only one kind.
func TestFilesMergeWindowsPathsWithEitherSlash(t *testing.T) {
	msgs := called("1", "edit", `{"path":"C:\\src\\a\\b.go","old_string":"x","new_string":"y"}`, "ok")
	msgs = append(msgs, called("2", "edit", `{"path":"C:/src/a/b.go","old_string":"y","new_string":"z"}`, "ok")...)
	msgs = append(msgs, called("3", "bash", `{"command":"touch 'a\\b' && rm a/b"}`, "")...)
	files := history(msgs...).Files()
	if len(files) == 0 || files[0].Path == "" || files[0].Changes != 2 && files[1].Changes != 2 {
		t.Errorf("files %+v, want one file with 2 changes", files)
	}
	const previous = "## Key entities\n- In `C:/src/a/`: edited b.go 3 times [s9]"
	h := strategy.NewHistory(strategy.Request{Strategy: strategy.TaskState, Previous: previous, First: 10, Messages: called("1", "edit", `{"path":"C:\\src\\a\\b.go","old_string":"x","new_string":"y"}`, "ok")})
	if files := h.Files(); len(files) != 1 || files[0].Changes != 4 || files[0].Path != `C:\src\a\b.go` {
		t.Errorf("with the previous summary: %+v, want one file with 4 changes", files)
	}
	for _, previous := range []string{previous, "## Key entities\n- `C:\\src\\a\\b.go`: edited [s9]"} {
		for _, path := range []string{`C:\\src\\a\\b.go`, "C:/src/a/b.go"} {
			h = strategy.NewHistory(strategy.Request{Strategy: strategy.TaskState, Previous: previous, First: 10, Messages: called("1", "write", `{"path":"`+path+`","content":"x"}`, "ok")})
			if files := h.Files(); len(files) != 1 || files[0].Op != strategy.Edited {
				t.Errorf("%s overwrites a file of the previous summary: %+v, want one edited file", path, files)
			}
		}
	}
}
