package strategy

import "testing"

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
		{"read_page", "Created by Eva. Updated in May.", "no effect"},
	} {
		if got := toldAs(calledTool(c.tool, c.result, "id", "4")); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.result, got, c.want)
		}
	}
}
