package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// ranCalls returns a session of calls of tools, three texts each: tool, arguments, result. An
// entry without a tool is a message of the user.
func ranCalls(of ...[3]string) []message.Message {
	var out []message.Message
	for i, s := range of {
		if s[0] == "" {
			out = append(out, message.User(s[1]))
			continue
		}
		id := itoa(i + 1)
		out = append(out, message.Assistant("", message.Call(id, s[0], s[1])), message.ToolResult(id, s[2]))
	}
	return out
}

// A requested effect does not count as done, and the summary states a refusal together
// with the request.
func TestRequestedIsNotDone(t *testing.T) {
	tells(t, long("Handle the cases.", ranCalls(
		[3]string{"refund", `{"order":"O-7","amount":20}`, `{"status":"PENDING_APPROVAL","ticket":"RF-4411"}`},
		[3]string{"book_room", `{"room":"R2","at":"10:00"}`, `{"status":"waitlisted"}`},
		[3]string{"transfer_funds", `{"from":"A","to":"B","amount":500}`, `{"status":"EXECUTED","ref":"TX-8812"}`},
		[3]string{"request_leave", `{"day":"2 May"}`, `{"status":"requested"}`},
		[3]string{"create_order", `{"item":"desk"}`, `{"id":"ORD-33","status":"pending"}`},
		[3]string{"get_refund", `{"ticket":"RF-4411"}`, `{"status":"PENDING_APPROVAL"}`},
		[3]string{"", "RF-4411 is rejected, the order is too old. Offer a voucher.", ""},
	)...), []string{
		"[requested] called `refund` O-7 with amount=20, which returned: status: PENDING_APPROVAL, ticket: RF-4411 (requested, then [s16]: “RF-4411 is rejected, the order is too old.”) [s4]",
		"[requested] called `book_room` R2 with at=10:00, which returned: status: waitlisted (requested, and not done yet: do not ask again)",
		"[done] called `transfer_funds`", "ref: TX-8812 (do not repeat)", "[done] called `create_order`",
	}, []string{"[done] called `refund`", "[done] called `book_room`", "] called `get_refund` RF-4411, which returned: status: PENDING_APPROVAL (requested"})
}

// A requested effect stays requested in the next summary, and a longer number does not
// count as the same number.
func TestRequestedStaysRequested(t *testing.T) {
	first := write4(t, long("Handle the case.", ranCalls(
		[3]string{"refund", `{"order":"O-7","amount":20}`, `{"status":"PENDING_APPROVAL","ticket":"4411"}`},
		[3]string{"", "44112 is rejected. And 4411?", ""},
	)...))
	in := long("Go on.", message.Assistant("I do."))
	in.Previous = first
	const line = "- [requested] called `refund` O-7 with amount=20, which returned: status: PENDING_APPROVAL, ticket: 4411 (requested, and not done yet: do not ask again) [s4]"
	if second := write4(t, in); !strings.Contains(first, line) || !strings.Contains(second, line) {
		t.Errorf("%q is not in both:\n%s\n\n%s", line, first, second)
	}
}

// If a later part of the session ends or refuses an effect, the next summary does not state the
// effect as current.
func TestCarriedEffectIsUpdated(t *testing.T) {
	first := write4(t, long("Handle the case.", ranCalls(
		[3]string{"refund", `{"order":"O-7","amount":20}`, `{"status":"PENDING_APPROVAL","ticket":"RF-4411"}`},
		[3]string{"txn_post", `{"line":"L00","debit":"6300"}`, `{"balanced":true,"txn":"T-3001"}`},
		[3]string{"txn_post", `{"line":"L01","debit":"6300"}`, `{"balanced":true,"txn":"T-30011"}`},
	)...))
	in := long("Go on.", ranCalls(
		[3]string{"txn_reverse", `{"txn":"T-3001"}`, `{"txn":"T-3004"}`},
		[3]string{"", "RF-4411 is rejected, the order is too old.", ""},
	)...)
	in.Previous = first
	tells(t, in, []string{"ticket: RF-4411 (requested, then [s", "RF-4411 is rejected, the order is too old.”)", "txn: T-3001 (then `txn_reverse` T-3001 [s", "txn: T-30011 (do not repeat)"},
		[]string{"txn: T-3001 (do not repeat)", "do not ask again"})
}

// A refusal of something else in the same sentence does not change the state of the request.
func TestRefusalIsOfTheNamedObject(t *testing.T) {
	tells(t, long("Handle the cases.", ranCalls(
		[3]string{"update_status", `{"component":"queue","text":"All is well."}`, `{"id":"SU-4202","state":"operational"}`},
		[3]string{"", "The page says it in SU-4202; the first text was refused because it was too long.", ""},
		[3]string{"update_status", `{"component":"login","text":"All is well."}`, `{"id":"SU-4203","state":"operational"}`},
		[3]string{"", "SU-4203 was declined by the editor.", ""},
	)...), []string{"id: SU-4202", "(then [s9]: “SU-4203 was declined by the editor.”)"}, []string{"the first text was refused because it was too long.”)"})
}

// The confirmation of a cancellation does not take it back, in the same summary and in the next one.
func TestConfirmationOfACancellationDoesNotTakeItBack(t *testing.T) {
	cancel := [3]string{"cancel_pending_order", `{"order_id":"#W7800651"}`, `{"order_id":"#W7800651","status":"cancelled"}`}
	const confirm = "Order #W7800651 is cancelled."
	const want = "status: cancelled (do not repeat)"
	tells(t, long("Cancel my order.", append(ranCalls(cancel), message.Assistant(confirm))...), []string{want}, nil)
	in := long("Go on.", message.Assistant(confirm))
	in.Previous = write4(t, long("Cancel my order.", ranCalls(cancel)...))
	tells(t, in, []string{want}, nil)
}

// If a later part sets a value again, the earlier value is not current in the next summary. A
// change of another object or another member, or of the same value, has no such consequence.
func TestCarriedValueThatWasSetAgainIsNotCurrent(t *testing.T) {
	first := write4(t, long("Handle the case.", ranCalls(
		[3]string{"change_tariff", `{"contract":"L-1","monthly":97}`, `{"status":"ok"}`},
		[3]string{"change_tariff", `{"contract":"L-2","monthly":97}`, `{"status":"ok"}`},
		[3]string{"change_tariff", `{"contract":"L-3","monthly":97}`, `{"status":"ok"}`},
	)...))
	in := long("Go on.", ranCalls(
		[3]string{"change_tariff", `{"contract":"L-1","monthly":95}`, `{"status":"ok"}`},
		[3]string{"change_tariff", `{"contract":"L-2","start":"May"}`, `{"status":"ok"}`},
		[3]string{"change_tariff", `{"contract":"L-3","monthly":97}`, `{"status":"ok"}`},
	)...)
	in.Previous = first
	tells(t, in, []string{"L-1 with monthly=97, which returned: status: ok (then changed again [s", "L-2 with monthly=97, which returned: status: ok (do not repeat)"}, []string{"L-3 with monthly=97, which returned: status: ok (then changed again"})
}

// If two effects are on one object, only the last effect holds.
func TestOnlyTheLastEffectOnAnObjectHolds(t *testing.T) {
	tells(t, long("Do the steps.", ranCalls(
		[3]string{"post_comment", `{"mr":482,"body":"The refund is not idempotent."}`, `{"status":"created","id":9004}`},
		[3]string{"delete_comment", `{"mr":482,"id":9004}`, `{"status":"deleted"}`},
		[3]string{"post_comment", `{"mr":482,"body":"The lock is too short."}`, `{"status":"created","id":9010}`},
		[3]string{"set_clause", `{"clause":"rent","from":"900","to":"950"}`, `{"ok":true}`},
		[3]string{"set_clause", `{"clause":"pets","from":"no","to":"yes"}`, `{"ok":true}`},
		[3]string{"set_clause", `{"clause":"rent","from":"950","to":"930"}`, `{"ok":true}`},
		[3]string{"set_clause", `{"clause":"pets","from":"cats","to":"dogs"}`, `{"ok":true}`},
		[3]string{"bash", `{"command":"systemctl stop importer"}`, ""},
		[3]string{"bash", `{"command":"systemctl start importer"}`, ""},
		[3]string{"bash", `{"command":"pip install rows==2.2"}`, "Successfully installed rows-2.2"},
		[3]string{"bash", `{"command":"pip install rows==2.1"}`, "Successfully installed rows-2.1"},
		[3]string{"bash", `{"command":"pip install cols==2.1"}`, "Successfully installed cols-2.1"},
		[3]string{"cal_create", `{"day":"2 June","time":"16:00"}`, `{"id":"ev-92","status":"tentative"}`},
		[3]string{"cal_update", `{"id":"ev-92","time":"14:15"}`, `{"id":"ev-92","status":"confirmed"}`},
	)...), []string{
		"id: 9004 (then `delete_comment` 9004 [s6]) [s4]", "id: 9010 (do not repeat) [s8]",
		"from=900 to=950, which returned: ok: true (then changed again [s14]) [s10]", "from=950 to=930, which returned: ok: true (do not repeat) [s14]",
		"from=no to=yes, which returned: ok: true (do not repeat) [s12]",
		"`systemctl stop importer` (then `systemctl start importer` [s20]) [s18]", "`systemctl start importer` (do not repeat) [s20]",
		"Successfully installed rows-2.2 (then `pip install rows==2.1` [s24]) [s22]", "Successfully installed rows-2.1 (do not repeat) [s24]",
		"id: ev-92 (then `cal_update` ev-92 [s30]) [s28]", "ev-92 with time=14:15, which returned: status: confirmed (do not repeat) [s30]",
	}, nil)
}

// If a part of an effect failed, the summary states both parts.
func TestEffectDoneInPartStatesBothParts(t *testing.T) {
	tells(t, long("Do the steps.", ranCalls(
		[3]string{"bash", `{"command":"git commit -m 'rows: cache' && git push"}`, "[main 1a2b3c4] rows: cache\n 1 file changed\n ! [rejected] main -> main (fetch first)\nerror: failed to push some refs"},
		[3]string{"bash", `{"command":"zfs destroy -v tank/a@1%3"}`, "will destroy tank/a@1\nwill destroy tank/a@2\nwill destroy tank/a@3\ncannot destroy snapshot tank/a@3: dataset is busy"},
		[3]string{"bash", `{"command":"kubectl apply -f d.yaml"}`, "error: cannot read d.yaml"},
	)...), []string{
		"[done in part] ran `git commit -m 'rows: cache' && git push`, which printed: “[main 1a2b3c4] rows: cache”, but also: “! [rejected] main -> main (fetch first) / error: failed to push some refs” (do not repeat what is done) [s4]",
		"[done in part] ran `zfs destroy -v tank/a@1%3`, which printed: “will destroy tank/a@1”, but also: “cannot destroy snapshot tank/a@3: dataset is busy”",
		"`kubectl apply -f d.yaml` failed",
	}, []string{"[done] ", "[done in part] ran `kubectl", "which printed: error: failed"})
}

func TestVerdictIsLabeledByItsCheck(t *testing.T) {
	c := calledTool("bash", "ok shop/billing 2.0s", "command", "git checkout agent/rows -- internal/legacy/adapter.go && git diff main --stat -- internal/legacy && go test ./billing/...")
	if got := c.name(); got != "`git checkout agent/rows -- internal/legacy/adapter.go && … && go test ./billing/...`" {
		t.Error(got)
	}
}

// Different effects of one kind in one message share a line. The same command twice, such as
// a retry, has a line for each run.
func TestEffectsOfOneKindShareALineUnlessTheyAreTheSame(t *testing.T) {
	for second, want := range map[string]int{"gh pr comment 6 --body done": 1, "gh pr comment 5 --body done": 2} {
		msgs := []message.Message{
			message.Assistant("", message.Call("1", "bash", `{"command":"gh pr comment 5 --body done"}`), message.Call("2", "bash", `{"command":"`+second+`"}`)),
			message.ToolResult("1", "ok"), message.ToolResult("2", "ok"),
		}
		got := NewHistory(Request{Strategy: taskState, Messages: msgs, First: 1}).effects()
		if len(got) != want || strings.Contains(got[0].Text, "and 1 more") != (want == 1) {
			t.Errorf("%s: %+v, want another number of lines", second, got)
		}
	}
}

// A commit that was amended is no current commit. An amendment of another commit leaves it
// current, and so does a later value for another contract.
func TestReplacedEffectsAreMarked(t *testing.T) {
	tells(t, long("Handle the cases.", ranCalls(
		[3]string{"bash", `{"command":"git commit -qm one && git log -1"}`, "aaaa111 one"},
		[3]string{"bash", `{"command":"git commit -m two"}`, "[main bbbb222] two"},
		[3]string{"bash", `{"command":"git commit --amend --no-edit -S"}`, "[main cccc333] two"},
		[3]string{"change_tariff", `{"contract":"L-1","monthly":97,"from":"2031-12-01"}`, `{"status":"ok"}`},
		[3]string{"change_tariff", `{"contract":"L-1","monthly":95,"from":"2031-12-01"}`, `{"status":"ok"}`},
		[3]string{"change_tariff", `{"contract":"L-2","monthly":95,"from":"2031-12-01"}`, `{"status":"ok"}`},
	)...), []string{
		"aaaa111 one (do not repeat) [s4]", "[main bbbb222] two (then amended [s8]) [s6]", "cccc333] two (do not repeat)",
		"monthly=97 from=2031-12-01, which returned: status: ok (then changed again [s12])", "L-1 with monthly=95 from=2031-12-01, which returned: status: ok (do not repeat)", "L-2 with monthly=95 from=2031-12-01, which returned: status: ok (do not repeat)",
	}, nil)
}

// An identifier can be of letters only. The person for whom an object was made is not the object.
func TestObjectWithLetterCodeIsEnded(t *testing.T) {
	tells(t, long("Book it for ann_77.", ranCalls(
		[3]string{"book_seat", `{"user_id":"ann_77","seat":"4A"}`, `{"booking_id":"HQWPLX","user_id":"ann_77","seat":"4A"}`},
		[3]string{"cancel_seat", `{"booking_id":"HQWPLX"}`, `{"booking_id":"HQWPLX","user_id":"ann_77","status":"cancelled"}`},
		[3]string{"book_seat", `{"user_id":"ann_77","seat":"5B"}`, `{"booking_id":"KRTWNO","user_id":"ann_77","seat":"5B"}`},
		[3]string{"update_profile", `{"user_id":"ann_77","city":"Lund"}`, `{"user_id":"ann_77","city":"Lund"}`},
	)...), []string{"booking_id: HQWPLX (then `cancel_seat` HQWPLX [s6])", "booking_id: KRTWNO (do not repeat)"}, []string{"then `update_profile`"})
}

// The members of a list can fill a line. They follow the arguments that occur once, which tell
// two attempts apart.
func TestAttemptsAreToldApartByTheirOwnArguments(t *testing.T) {
	legs := `"legs":[` + strings.TrimSuffix(strings.Repeat(`{"flight_number":"XQ10045","departure_date":"2031-05-27","cabin_class":"business"},`, 4), ",") + `]`
	tells(t, long("Change my flight.", ranCalls(
		[3]string{"update_flights", `{"booking":"B-77",` + legs + `,"payment_id":"voucher_31"}`, "Error: the balance is not enough"},
		[3]string{"update_flights", `{"booking":"B-77",` + legs + `,"payment_id":"voucher_95"}`, "Error: the balance is not enough"},
	)...), []string{"voucher_31", "voucher_95"}, nil)
}
