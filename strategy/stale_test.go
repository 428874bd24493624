package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// asked returns a call of a tool with its result.
func asked(id, tool, args, result string) []message.Message {
	return []message.Message{message.Assistant("", message.Call(id, tool, args)), message.ToolResult(id, result)}
}

const readOnce = "198→// about rows\n199→Each cut takes limitOfRows rows at once\n200→// the end of the file\n"

// A quotation of a file that was changed later does not describe the present file.
func TestQuotationOfChangedFileIsNotCurrent(t *testing.T) {
	quotedFrom := func(edit ...message.Message) string {
		msgs := append([]message.Message{message.User("Cut the rows.")}, asked("1", "Read", `{"file_path":"store/cut.go"}`, readOnce)...)
		h := NewHistory(Request{Strategy: TaskState, Messages: append(msgs, edit...), First: 1, Count: func(s string) int { return len(s) / 4 }})
		out := ""
		for _, l := range h.quotedLines(0, 40, func(e *entity) bool { return e.Text == "limitOfRows" }) {
			out += l.Text
		}
		return out
	}
	for name, c := range map[string]struct {
		tool, args, want string
	}{
		"no edit":           {"Read", `{"file_path":"store/a.go"}`, "`store/cut.go` has “199→Each cut takes limitOfRows rows at once” [s2]"},
		"of another file":   {"Edit", `{"file_path":"store/a.go","old_string":"Each cut takes limitOfRows rows at once","new_string":"b"}`, "`store/cut.go` has “199→Each cut takes limitOfRows rows at once” [s2]"},
		"of another line":   {"Edit", `{"file_path":"store/cut.go","old_string":"// the end of the file","new_string":"// the end"}`, ""},
		"of the line":       {"Edit", `{"file_path":"store/cut.go","old_string":"\tEach cut takes limitOfRows rows at once","new_string":"\tNo cut"}`, ""},
		"of a part of it":   {"Edit", `{"file_path":"store/cut.go","old_string":"rows at once","new_string":"rows"}`, ""},
		"beside the line":   {"Edit", `{"file_path":"store/cut.go","old_string":"// the end\nEach cut takes limitOfRows rows at once","new_string":"Each cut takes limitOfRows rows at once"}`, ""},
		"with a patch":      {"apply_patch", `{"input":"*** Begin Patch\n*** Update File: store/cut.go\n@@\n-Each cut takes limitOfRows rows at once\n+No cut\n*** End Patch"}`, ""},
		"of the whole file": {"Write", `{"file_path":"store/cut.go","content":"package store"}`, ""},
		"by a command":      {"bash", `{"command":"sed -i s/end/END/ store/cut.go"}`, ""},
	} {
		if got := quotedFrom(asked("2", c.tool, c.args, "ok")...); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestEditOutdatesQuotationOfPreviousSummary(t *testing.T) {
	const line = "`store/cut.go` has “199→Each cut takes limitOfRows rows at once” and “7→The default of limitOfRows is 3” [s2]"
	for args, want := range map[string]string{
		`{"file_path":"store/a.go","old_string":"a","new_string":"b"}`:                                                line,
		`{"file_path":"store/cut.go","old_string":"The default of limitOfRows is 3","new_string":"The default is 4"}`: "",
		`{"file_path":"store/cut.go","content":"package store"}`:                                                      "",
	} {
		tool := "Edit"
		if strings.Contains(args, "content") {
			tool = "Write"
		}
		h := NewHistory(Request{Strategy: TaskState, Previous: "## Key entities\n- " + line, First: 9, Messages: asked("1", tool, args, "The file has been updated")})
		got := ""
		for _, l := range h.carried(TaskState, nil) {
			got += l.Text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
