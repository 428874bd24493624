package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A tool has an effect if its name has a verb that changes something, and not a word for
// looking. Verbs that are also nouns count only if the result reports the change.
func TestVerbDecidesTheEffectOfATool(t *testing.T) {
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
		{"git_open_pr", `{"number": 2291, "state": "open", "checks": "pending"}`, "done"},
		{"open_issue", `{"error": "no such repository"}`, "failed"},
		{"open_file", `{"id": "f1", "text": "Opened in May."}`, "no effect"},
		{"open", "Opened in May by Eva.", "no effect"},
		{"txn_post", `{"txn": null, "balanced": false, "err": "account 6830 is closed"}`, "failed"},
		{"txn_post", `{"txn": "T-3", "err": null}`, "done"},
		{"billing.credit", `{"credit": "cr_551", "status": "applied"}`, "done"},
		{"notify_owner", `{"delivered": true}`, "done"},
		{"notify_owner", `{"delivered": false}`, "no effect"},
		{"remove_guest", `{"removed": 0, "warning": "the host cannot be removed"}`, "failed"},
		{"remove_guest", `{"removed": 1}`, "done"},
		{"update_rows", `{"updated": 0}`, "failed"},
		{"send_invite", `{"failed": 0, "sent": 2}`, "done"},
		{"read_page", "Created by Eva. Updated in May.", "no effect"},
	} {
		if got := toldAs(calledTool(c.tool, c.result, "id", "4")); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.result, got, c.want)
		}
	}
}

// A call has no effect if an argument requests a dry run.
func TestRehearsedCallHasNoEffect(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{{"dry_run", "true", "no effect"}, {"dryRun", "true", "no effect"}, {"dry_run", "false", "done"}, {"validate-only", "true", "no effect"}} {
		if got := toldAs(calledTool("schedule_move", `{"status": "ok", "target": "rack B12"}`, "server", "srv-17", c.name, c.value)); got != c.want {
			t.Errorf("%s=%s: %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

// A statement of SQL has an effect if it changes something.
func TestStatementHasAnEffectIfItChangesSomething(t *testing.T) {
	for _, c := range []struct{ query, result, want string }{
		{"ALTER TABLE customers ADD COLUMN given text", "ALTER TABLE\nTime: 9.1 ms", "done"},
		{" update customers set given = null", "UPDATE 41", "done"},
		{"delete from carts where old", "ERROR:  canceling statement due to lock timeout", "failed"},
		{"SELECT update_time FROM customers", "(1 row)", "no effect"},
		{"EXPLAIN UPDATE customers SET given = null", "Update on customers", "no effect"},
		{"update on the strike", "2 hits", "no effect"},
	} {
		if got := toldAs(calledTool("db_query", c.result, "query", c.query)); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	tells(t, long("Which rows are old?", message.Assistant("", message.Call("1", "query", `{"query":"SELECT id FROM carts WHERE old"}`)), message.ToolResult("1", "(0 rows)"),
		message.Assistant("", message.Call("2", "web_search", `{"query":"why an index is big"}`)), message.ToolResult("2", "Use a partial index."),
	), []string{"asked web_search for “why an index is big”"}, []string{"for “SELECT id"})
}

// A summary states the call of a tool that is named after a program as a command line of
// that program.
func TestToolOfProgramIsCommand(t *testing.T) {
	tells(t, long("Restart the canary.",
		message.Assistant("", message.Call("1", "kubectl", `{"args":"-n shop set env deploy/canary SNI=b"}`)), message.ToolResult("1", "deployment.apps/canary env updated"),
		message.Assistant("", message.Call("2", "git", `{"args":["push","origin","main"]}`)), message.ToolResult("2", "To x:y.git\n   1a2b3c4..5d6e7f8  main -> main"),
		message.Assistant("", message.Call("3", "kubectl", `{"args":"kubectl -n shop rollout status deploy/canary"}`)), message.ToolResult("3", "Waiting for deployment\nerror: deployment \"canary\" exceeded its progress deadline"),
	), []string{"[done] ran `kubectl -n shop set env deploy/canary SNI=b`", "[done] ran `git push origin main`", "`kubectl -n shop rollout status deploy/canary` failed: error: deployment \"canary\" exceeded"}, nil)
}

// A listing that is quoted whole in one line is not quoted again.
func TestShownOutputIsNotQuotedAgain(t *testing.T) {
	tells(t, long("Mend Cards.astro and Hero.astro.",
		message.Assistant("", message.Call("1", "bash", `{"command":"ls src/components"}`)), message.ToolResult("1", "Cards.astro\nHero.astro\nHero.module.css\nNewsletter.astro"),
	), []string{"`ls src/components` showed: Cards.astro; Hero.astro"}, []string{"the output reads"})
}

// A summary quotes a list in the arguments in full, and at most two of several equal
// lines of a result.
func TestListsOfCallsAreShort(t *testing.T) {
	keys := ""
	for i := range 30 {
		keys += "KEY_" + itoa(i) + ": " + itoa(i) + "\n"
	}
	tells(t, long("Book the lines.",
		message.Assistant("", message.Call("1", "txn_bulk", `{"lines":["L05","L13","L21"],"debit":"1800"}`)), message.ToolResult("1", `{"posted": 3}`),
		message.Assistant("", message.Call("2", "settings", `{"of":"books"}`)), message.ToolResult("2", "kind: map\n"+keys+"TTL: 300\n"),
		message.Assistant("", message.Call("3", "outages", `{"of":"srv-17"}`)), message.ToolResult("3", `{"server":"srv-17","cause":"the switch","samples":[`+strings.Repeat(`{"t":7,"up":1,"host":"a"},`, 30)+`{"t":8,"up":0,"host":"b"}]}`),
		message.Assistant("", message.Call("4", "mail_search", `{"q":"conf"}`)), message.ToolResult("4", `{"hits": []}`),
	), []string{"t: 7, up: 1, host: a; … t: 8, up: 0, host: b", "which returned: {\"hits\": []}", "called `txn_bulk` L05 with lines=L05,L13,L21 debit=1800", "kind: map KEY_0: 0 KEY_1: 1 … TTL: 300"}, []string{"lines=L13 lines", "KEY_2"})
}

// A summary does not state an effect as current if a later call reversed it.
func TestReversedEffectIsNotCurrent(t *testing.T) {
	tells(t, long("Book the rent.",
		message.Assistant("", message.Call("1", "txn_post", `{"line":"L00","debit":"6300"}`)), message.ToolResult("1", `{"balanced": true, "txn": "T-3001"}`),
		message.Assistant("", message.Call("2", "txn_reverse", `{"txn":"T-3001"}`)), message.ToolResult("2", `{"txn": "T-3004", "reverses": "T-3001"}`),
	), []string{"txn: T-3001 (then `txn_reverse` T-3001 [s6])"}, nil)
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
		message.Assistant("It has no fields."),
	), []string{"[done] called `post_comment` Pay.java", "status: created", "renamed `doc/a.txt` to `doc/b.txt`", "read `Refund.java`"},
		[]string{"read `Pay.java`", "at `Pay.java`"})
}

// Calls with equal results have separate lines in the log.
func TestCallsWithEqualResultsStay(t *testing.T) {
	tells(t, long("Prepare the rooms.",
		message.Assistant("", message.Call("1", "dim_lamp", `{"room":"R1","level":"20"}`)), message.ToolResult("1", `{"ok": true, "watts": 9}`),
		message.Assistant("", message.Call("2", "dim_lamp", `{"room":"R2","level":"40"}`)), message.ToolResult("2", `{"ok": true, "watts": 9}`),
		message.Assistant("", message.Call("3", "dim_lamp", `{"room":"R1","level":"30"}`)), message.ToolResult("3", `{"ok": true, "watts": 9}`),
	), []string{"[s4] called `dim_lamp` R1 with level=20, which returned: watts: 9", "[s6] called `dim_lamp` R2 with level=40", "[s8] called `dim_lamp` R1 with level=30"}, nil)
}

// A long command is quoted from its first part that changes something on.
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

// A tool that gets a statement changes the database if the statement does. A search for
// words of a statement changes nothing.
func TestStatementsToDatabases(t *testing.T) {
	for statement, want := range map[string]string{
		"create or replace view v as select 1 from t": "done", "UPDATE rooms SET price = 3 WHERE id = 2": "done", "delete from rooms where id > 5": "done", "insert into rooms values (1)": "done",
		"select * from rooms": "no effect", "update on the strike": "no effect", "create a plan for the garden": "no effect", "delete files from disk": "no effect", "explain update rooms set price = 3": "no effect",
	} {
		if got := toldAs(calledTool("run_statement", "ok", "db", "core", "q", statement)); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
	call := calledTool("run_statement", "ERROR:  permission denied for table rooms", "db", "core", "sql", "delete from rooms where id > 5")
	if got := toldAs(call); got != "failed" || call.Target() != "delete from rooms where id > 5" {
		t.Errorf("%s, about %q; want %s and %q", got, call.Target(), "failed", "delete from rooms where id > 5")
	}
}
