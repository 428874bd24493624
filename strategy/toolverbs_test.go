package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A tool has an effect if its name has a verb that changes something, and not a word for
// looking. Verbs that are also nouns count only if the result reports the change.
func TestEffectsOfTools(t *testing.T) {
	for _, c := range []struct{ tool, result, want string }{
		{"issue_voucher", `{"status": "ISSUED", "code": "V-1"}`, "done"},
		{"change_booking", `{"status": "CHANGED"}`, "done"},
		{"change_booking", `{"status": "FAILED", "error": "CARD_EXPIRED"}`, "failed"},
		{"approve_request", `{"ok": true}`, "done"},
		{"upload_note", `{"id": "f1"}`, "done"},
		{"replace_text", `{"ok": true, "replacements": 2}`, "done"},
		{"replace_text", `{"ok": false, "error": "text not found"}`, "failed"},
		{"comment", `{"id": "c-17"}`, "done"},
		{"closeTicket", "Ticket closed.", "done"},
		{"order_items", "3 items, none of them in stock", "no effect"},
		{"order_status", `{"status": "closed"}`, "no effect"},
		{"refund_status", `{"status": "REFUNDED"}`, "no effect"},
		{"update_status", `{"status": "CLOSED"}`, "done"},
		{"issue_details", `{"id": 4, "status": "closed"}`, "no effect"},
		{"get_change", `{"status": "CHANGED"}`, "no effect"},
		{"check_order", `{"ok": true, "status": "created"}`, "no effect"},
		{"list_comments", `{"ok": true}`, "no effect"},
		{"quote_change", `{"ok": true}`, "no effect"},
		{"change_plan_preview", `{"status": "CHANGED"}`, "no effect"},
		{"close_account", "The account can be closed by the owner.", "no effect"},
		{"move_note", "The note was created by Eva in May. It has three parts.", "no effect"},
		{"order_items", `{"status": "delivered"}`, "no effect"},
		{"mouse_move", "ok", "no effect"},
		{"browser_close", `{"ok": true}`, "no effect"},
		{"execute_sql", `{"ok": true, "rows": 3}`, "no effect"},
		{"exchange_rate", `{"ok": true, "rate": 1.1}`, "no effect"},
		{"read_page", "Created by Eva. Updated in May.", "no effect"},
	} {
		if got := toldAs(calledTool(c.tool, c.result, "id", "4")); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.result, got, c.want)
		}
	}
}

// A tool that only refers to a file does not read it.
func TestCallAboutFileIsNotRead(t *testing.T) {
	tells(t, long("Review the change.",
		message.Assistant("", message.Call("1", "post_comment", `{"file":"Pay.java","line":41,"body":"This map is shared by two threads."}`)),
		message.ToolResult("1", `{"id": 9001, "status": "created"}`),
		message.Assistant("", message.Call("2", "rename_file", `{"path":"doc/a.txt","new_name":"b.txt"}`)),
		message.ToolResult("2", `{"ok": true}`),
		message.Assistant("", message.Call("3", "read_file", `{"path":"Refund.java"}`)),
		message.ToolResult("3", "class Refund {}"),
	), []string{"[done] called `post_comment` Pay.java", "status: created", "renamed `doc/a.txt` to `doc/b.txt`", "read `Refund.java`"},
		[]string{"read `Pay.java`", "at `Pay.java`"})
}

// Calls with equal results stay apart in the log.
func TestCallsWithEqualResultsStay(t *testing.T) {
	tells(t, long("Prepare the rooms.",
		message.Assistant("", message.Call("1", "dim_lamp", `{"room":"R1","level":"20"}`)), message.ToolResult("1", `{"ok": true, "watts": 9}`),
		message.Assistant("", message.Call("2", "dim_lamp", `{"room":"R2","level":"40"}`)), message.ToolResult("2", `{"ok": true, "watts": 9}`),
		message.Assistant("", message.Call("3", "dim_lamp", `{"room":"R1","level":"30"}`)), message.ToolResult("3", `{"ok": true, "watts": 9}`),
	), []string{"[s4] called `dim_lamp` R1 with level=20, which returned: ok: true, watts: 9", "[s6] called `dim_lamp` R2 with level=40", "[s8] called `dim_lamp` R1 with level=30"}, nil)
}

// A long command is quoted from its first part that changes something.
func TestLongCommandIsQuotedFromItsFirstEffect(t *testing.T) {
	c := calledTool("bash", "image updated", "command", "kubectl -n shop set image deploy/checkout checkout=registry.shop.test/checkout:v413 && kubectl -n shop rollout resume deploy/checkout")
	if got := c.name(); !strings.HasPrefix(got, "`kubectl -n shop set image deploy/checkout checkout=registry.shop.test/checkout:v413") {
		t.Error(got)
	}
}

// If a long result begins with a success, the summary quotes only that line.
func TestLongConfirmationIsCut(t *testing.T) {
	long := calledTool("batch_draw", "# Successfully executed all operations.\n## Operation results:\n"+strings.Repeat("- node 4: {\"type\":\"frame\"}\n", 40), "file", "page.pen")
	if got, want := long.tell(), "called `batch_draw` page.pen, which returned: # Successfully executed all operations."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	short := calledTool("batch_draw", "Successfully drawn.\nNode: 4", "file", "page.pen")
	if got, want := short.tell(), "called `batch_draw` page.pen, which returned: Successfully drawn. Node: 4"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
