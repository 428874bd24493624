package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// taskList returns a session that creates three tasks and works on the first.
func taskList() []message.Message {
	return []message.Message{
		message.User("Go on with the review."),
		message.Assistant("", message.Call("1", "TaskCreate", `{"subject":"Zero the keys after use"}`), message.Call("2", "TaskCreate", `{"subject":"Validate the schema"}`), message.Call("3", "TaskCreate", `{"subject":"Run the tests and commit"}`)),
		message.ToolResult("1", "Task #1 created successfully: Zero the keys after use"),
		message.ToolResult("2", "Task #2 created successfully: Validate the schema"),
		message.ToolResult("3", "Task #3 created successfully: Run the tests and commit"),
		message.Assistant("", message.Call("4", "TaskUpdate", `{"taskId":"1","status":"in_progress"}`)),
		message.ToolResult("4", "Updated task #1 status"),
		message.Assistant(strings.Repeat("The keys are next, as planned. ", 30)),
	}
}

// TestTaskIsUpdatedAfterItsSummary checks that a summary keeps the ids of tasks, because
// an update has only the id. Without the id, the agent could not update the task either,
// and finished work would read as open forever.
func TestTaskIsUpdatedAfterItsSummary(t *testing.T) {
	text := write4(t, Input{Messages: taskList()})
	for _, want := range []string{"[open] Zero the keys after use (task 1) (in progress)", "[open] Validate the schema (task 2)", "[open] Run the tests and commit (task 3)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	next := write4(t, Input{Previous: text, Messages: []message.Message{
		message.User("Go on."),
		message.Assistant("", message.Call("5", "TaskUpdate", `{"taskId":"1","status":"completed"}`), message.Call("6", "TaskUpdate", `{"taskId":"2","status":"in_progress"}`)),
		message.ToolResult("5", "Updated task #1 status"),
		message.ToolResult("6", "Updated task #2 status"),
		message.Assistant(strings.Repeat("The schema is next, as planned. ", 30)),
	}})
	for _, want := range []string{"[done] Zero the keys after use", "[open] Validate the schema (task 2) (in progress)", "[open] Run the tests and commit (task 3)"} {
		if strings.Count(next, want) != 1 {
			t.Errorf("%q is not in:\n%s", want, next)
		}
	}
	if strings.Contains(next, "[open] Zero") {
		t.Errorf("finished work is open:\n%s\nwant text without %q", next, "[open] Zero")
	}
}

// TestMarkIsReadBackUnchanged also checks that a bracket in the user's text is not a mark.
func TestMarkIsReadBackUnchanged(t *testing.T) {
	for _, it := range []item{{Text: "Run the tests"}, {Text: "Run the tests", id: "a7f-1"}, {Text: "Run the tests", id: "12", Active: true}, {Text: "Fix (task force of one)"}, {Text: "Fix it (in part)", Active: true}} {
		got := unmarked(it.Text + it.marks())
		if got.Text != it.Text || got.id != it.id || got.Active != it.Active {
			t.Errorf("%+v is read as %+v", it, got)
		}
	}
}
