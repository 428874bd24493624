package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// An edit that somebody did not allow changed no file, whatever words the harness uses.
func TestEditThatWasNotAllowedIsNoChange(t *testing.T) {
	for _, says := range []string{"patch rejected: writing outside of the project; rejected by user approval settings", "The edit was declined by the user.", "User rejected the changes to lib/a.py", "[Operation Cancelled] Reason: User denied execution."} {
		text := write4(t, long("Add a helper.",
			message.Assistant("", message.Call("1", "edit_file", `{"path":"lib/a.py","old_string":"pass","new_string":"return 1"}`)), message.ToolResult("1", says)))
		if strings.Contains(text, "`lib/a.py`: edited") || !strings.Contains(text, "the edit of `lib/a.py`") {
			t.Errorf("%s: the file counts as edited:\n%s", says, text)
		}
	}
	order := long("Cancel order W-31.", message.Assistant("", message.Call("1", "cancel_order", `{"order":"W-31"}`)), message.ToolResult("1", "Order W-31 was cancelled"))
	tells(t, order, []string{"[done] called `cancel_order` W-31"}, nil)
}
