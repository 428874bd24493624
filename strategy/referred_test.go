package strategy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A summary states the message before a short reply of the user, even after much later
// work. Without it, nobody could name the issues of "fix all 9".
func TestSummaryStatesMessageBeforeShortReply(t *testing.T) {
	issues := []string{"recipients leak in export.go", "the retry loop of queue.go never ends", "locks are held across fsync in store.go", "a nil map in cache.go", "rows are counted twice in report.go",
		"tokens are logged by auth.go", "time zones are dropped in calendar.go", "the migration in schema.go is not idempotent", "sizes overflow in quota.go"}
	list := "I reviewed the branch and found these issues:\n"
	for i, s := range issues {
		list += fmt.Sprintf("%d. %s\n", i+1, s)
	}
	msgs := []message.Message{message.User("Please review the branch."), message.Assistant(list + "Shall I fix them?")}
	work := 0
	for i := range 60 {
		id := fmt.Sprint("c", i)
		msgs = append(msgs, message.Assistant(fmt.Sprintf("The handler of part_%d.go returned an error because the pool_%d is closed before the flush of worker_%d, so that I decided to reorder both.", i, i, i),
			message.Call(id, "edit_file", fmt.Sprintf(`{"path":"part_%d.go","old_string":"a","new_string":"b"}`, i))), message.ToolResult(id, "ok"))
		work += 2
	}
	told := func(reply string) (n int) {
		text := written(t, taskState, 900, Input{Messages: msgs, Visible: []message.Message{message.User(reply)}, After: work, First: 1, Count: func(s string) int { return len(s) / 4 }})
		for _, s := range issues {
			if strings.Contains(text, s) {
				n++
			}
		}
		return n
	}
	if n := told("yeah please fix all 9 issues"); n < 8 {
		t.Errorf("the summary states %d of %d issues, want at least 8", n, len(issues))
	}
	if n := told("Now something else. " + strings.Repeat("The exporter needs another format for the tables of the year before. ", 6)); n > 7 {
		t.Errorf("the summary states %d issues without a reply: the test proves nothing", n)
	}
}
