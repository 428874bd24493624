package strategy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// ran returns the messages of a call of a tool with its result.
func toolRun(n int, tool, args, result string) []message.Message {
	id := fmt.Sprint("c", n)
	return []message.Message{message.Assistant("", message.Call(id, tool, args)), message.ToolResult(id, result)}
}

// wholeSummary returns the summary of messages after a request.
func wholeSummary(t *testing.T, previous, request string, msgs []message.Message) string {
	t.Helper()
	request += strings.Repeat(" The shop has many rows, and each row has its own shelf.", 30) // a summary is shorter than what it replaces
	msgs = append([]message.Message{message.User(request)}, msgs...)
	return written(t, taskState, 1500, Input{Previous: previous, Messages: msgs, Count: quarter})
}

// A summary states the newest of several observed states, even if a previous summary stated an
// earlier one.
func TestSummaryStatesTheNewestState(t *testing.T) {
	var msgs []message.Message
	for n := range 6 {
		msgs = append(msgs, toolRun(n, "bash", `{"command":"curl -s http://shop.example/health"}`, fmt.Sprintf("ready %d of 6", n))...)
		msgs = append(msgs, toolRun(10+n, "get_order", `{"number":"B-551020"}`, fmt.Sprintf(`{"number":"B-551020","stage":"packing step %d of 6"}`, n))...)
	}
	msgs = append(msgs, toolRun(20, "bash", `{"command":"git status --short"}`, " M shop/cart.py\n?? shop/stock.py")...)
	msgs = append(msgs, toolRun(21, "bash", `{"command":"git add shop && git commit -qm 'count the stock' && git status --short && git log --oneline -1"}`, "7d41c0e count the stock")...)
	first := wholeSummary(t, "", "Please watch the shop until all six are ready.", msgs)
	for _, want := range []string{"ready 5 of 6 (6 runs since [s2])", "packing step 5 of 6"} {
		if strings.Count(first, want) != 1 {
			t.Errorf("%q is not stated exactly once:\n%s", want, first)
		}
	}
	for _, old := range []string{"ready 0 of 6", "ready 4 of 6", "packing step 0", "packing step 4", "?? shop/stock.py"} {
		if strings.Contains(first, old) {
			t.Errorf("the outdated %q is stated:\n%s", old, first)
		}
	}
	next := wholeSummary(t, first, "And now watch it for the night.", toolRun(30, "bash", `{"command":"curl -s http://shop.example/health"}`, "ready 1 of 6, degraded"))
	if strings.Contains(next, "ready 5 of 6") || !strings.Contains(next, "ready 1 of 6, degraded") {
		t.Errorf("the state of the previous summary is stated:\n%s", next)
	}
}

// The line of a call does not repeat an argument as a result. A failed call names its arguments:
// if several edits of one document were tried, the reader has to know which one is missing.
func TestLineOfACallSaysEachThingOnce(t *testing.T) {
	var msgs []message.Message
	for n, text := range []string{"revenue 11 503", "margin 1 206"} {
		msgs = append(msgs, toolRun(n, "edit_record", `{"doc_id":"D-771","action":"replace","text":"`+text+`"}`, `{"ok":true,"doc_id":"D-771","text":"`+text+`","revision":`+fmt.Sprint(14+n)+`}`)...)
	}
	msgs = append(msgs, toolRun(7, "move_section", `{"doc_id":"D-771","heading":"People","before":"Operations"}`, `{"ok":false,"error":"the document is locked by another editor"}`)...)
	got := wholeSummary(t, "", "Please correct the figures of the report.", msgs)
	for _, want := range []string{"revision: 14", "revision: 15", "failed (heading=People before=Operations): error: the document is locked by another editor"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	for _, again := range []string{"ok: true", "ok: false", "doc_id: D-771", "text: revenue"} {
		if strings.Contains(got, again) {
			t.Errorf("%q is stated:\n%s", again, got)
		}
	}
	if only := calledTool("add_note", `{"ok":true}`, "note", "call back").tell(); !strings.HasSuffix(only, "which returned: ok: true") {
		t.Errorf("a result that is only an acknowledgment: %s", only)
	}
	if other := calledTool("page_team", `{"urgent":true,"delivered":true,"seen_by":3}`, "urgent", "true", "people", "3").tell(); !strings.HasSuffix(other, "which returned: delivered: true, seen_by: 3") {
		t.Errorf("equal values of different things: %s", other)
	}
}

// An effect is stated once. It is not among the finished actions and again in the log.
func TestEffectIsStatedOnce(t *testing.T) {
	msgs := []message.Message{
		message.Assistant("I put that down for her.", message.Call("1", "add_note", `{"customer":"40718","note":"assembly for 45 euros once the date is fixed"}`)),
		message.ToolResult("1", `{"ok":true}`),
	}
	if got := wholeSummary(t, "", "Please note that for the customer 40718.", msgs); strings.Count(got, "add_note") != 1 {
		t.Errorf("the effect is not stated exactly once:\n%s", got)
	}
}

// A cut message loses its sentences with the least content first. Requests, rules, lists with
// their introduction and commands that must be used stay, at any place.
func TestCutMessageKeepsWhatSaysMost(t *testing.T) {
	filler := func(from int) string {
		var b strings.Builder
		for i := range 12 {
			fmt.Fprintf(&b, "The building of that year had %d floors with the usual rooms, and people went up and down there every day. ", from+i)
		}
		return b.String()
	}
	kept := []string{
		"Please move the archive of the house to the new shelf.", "Also open a ticket for the lamp in the cellar.", "Each box gets a number on its left side.",
		"Never do one of these:\n- move the boxes of tenant 14\n- open a sealed box\n- throw away a receipt",
		"You must use this command at the end:\n\n```\narchive close --shelf new --sign\n```", "Tell me how many boxes there are.",
	}
	text := kept[0] + " " + filler(1) + kept[1] + " " + filler(20) + kept[2] + "\n" + kept[3] + "\n\n" + filler(40) + "\n" + kept[4] + "\n" + filler(60) + "\n" + kept[5]
	got := fitWords([]Word{{Step: 1, Text: text}}, 330, 330, quarter)[0].Text
	for _, want := range kept {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if !strings.Contains(got, " characters]") || len(got) > 4*330 {
		t.Errorf("%d characters:\n%s\nwant text with %q", len(got), got, " characters]")
	}
}

// A list of what the agent found stays, also in its reasoning, but without items that only ask or
// guess. A recorded thought stays if it concludes something from names and numbers.
func TestFindingsOfThoughtsStay(t *testing.T) {
	mills := message.Assistant("", message.Call("1", "web_search", `{"query":"old mills of the valley"}`))
	mills.Parts = append([]message.Part{{Kind: message.KindReasoning, Text: "I have read enough pages. I've identified three mills of the valley:\n\n1. Harbor Mill - built in 1911\n2. Stone Mill - built in 1874\n3. Let me look at the third one later.\n4. Is the Sand Mill one of them?"}}, mills.Parts...)
	msgs := []message.Message{mills, message.ToolResult("1", "[]")}
	msgs = append(msgs, toolRun(2, "think", `{"thought":"The ferry F-207 leaves at 06:40, so only the mills with a pier can be reached. I should check the weather."}`, "")...)
	got := wholeSummary(t, "", "Which mills of the valley can we see?", msgs)
	for _, want := range []string{"thought: I've identified three mills of the valley: 1. Harbor Mill - built in 1911; 2. Stone Mill - built in 1874", "thought: The ferry F-207 leaves at 06:40"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	for _, idle := range []string{"third one", "Is the Sand Mill", "the weather"} {
		if strings.Contains(got, idle) {
			t.Errorf("%q is stated:\n%s", idle, got)
		}
	}
}

// A summary does not quote links with a label, lines of a page that do not concern the task, and
// notices of the harness.
func TestSummaryQuotesNoFrameOfAPage(t *testing.T) {
	page := "# The valley\n\nThe valley has nine mills, and the oldest one was built in 1602 by the millers of Erl.\n\nThe mill of Erl was closed in 1958 because the river was moved.\n\n" +
		"The walls of the other mills stand to this day, and the village uses two of them as a school. The wheel of the mill of Ord turns on Sundays, when the miller's granddaughter opens the gate. " +
		"Visitors come by the road along the river, which was paved in 1931, and leave by the bridge of Ord, which is closed in winter.\n\n" +
		"The poet of Erl: <https://poets.example.org/people/erl-1871>\nSoft beds for you: https://beds.example.org/sale-2026\n"
	msgs := toolRun(1, "web_fetch", `{"url":"https://valley.example.org/mills"}`, page)
	msgs = append(msgs, toolRun(2, "web_search", `{"query":"mills"}`, `[{"title":"A shop","url":"https://soft.example.org/shop-77","snippet":"Soft beds and pillows for you."},{"title":"Mill of Erl","url":"https://erl.example.org/mill-1602","snippet":"The mill."}]`)...)
	msgs = append(msgs, toolRun(3, "bash", `{"command":"find / -name mills.csv"}`, "Command running in background with ID: b77. Output is being written to: /var/run/agents/session-2026-05-04/tasks/b77.output. You will be notified.")...)
	msgs = append(msgs, toolRun(4, "WebFetch", `{"url":"https://valley.example.org/closed"}`, "The server returned HTTP 404 Not Found.\n\nThe response body was not retrieved.")...)
	got := wholeSummary(t, "", "Tell me about the mills of the valley.", msgs)
	for _, frame := range []string{"poets.example.org", "beds.example.org", "b77.output", "was not retrieved"} {
		if strings.Contains(got, frame) {
			t.Errorf("%q is quoted:\n%s", frame, got)
		}
	}
	for _, want := range []string{"built in 1602", "`WebFetch` https://valley.example.org/closed failed: The server returned HTTP 404 Not Found."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

// Equal failures of a call are stated once, with the number of runs, even if the agent spoke to
// the user between them.
func TestEqualFailuresAreCounted(t *testing.T) {
	const args, wrong = `{"order":"B-551020","seat":"12A"}`, "Error: seat 12A is taken"
	msgs := append(toolRun(1, "book_seat", args, wrong), message.Assistant("The seat 12A is taken. Which one do you want?"), message.User("Try it again."))
	msgs = append(msgs, toolRun(2, "book_seat", args, wrong)...)
	msgs = append(msgs, toolRun(3, "book_seat", `{"order":"B-551020","seat":"12B"}`, "Error: seat 12B is taken")...)
	got := wholeSummary(t, "", "Book me a seat.", msgs)
	for _, want := range []string{"Error: seat 12A is taken (2 times)", "Error: seat 12B is taken\n"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not stated exactly once:\n%s", want, got)
		}
	}
}

// If the text of a command is cut, the sentence below its first element stays. An element stays
// only with a sentence under it.
func TestCutCommandKeepsItsPurpose(t *testing.T) {
	const purpose = "Close the shelves that nobody used since spring."
	text := "<purpose>\n" + purpose + "\n</purpose>\n\n<background file=\"walls.csv\">\n" + strings.Repeat("The house is old and has walls of stone and wood in all of its rooms. ", 40) + "\n</background>\n\n<rules>\n- Never close shelf 14.\n</rules>\n\nExit.\n\nStop.\n\nWait.\n"
	got := fitWords([]Word{{Step: 1, Text: text}}, 100, 100, quarter)[0].Text
	for _, want := range []string{"<purpose>\n" + purpose, "<rules>\n- Never close shelf 14."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if strings.Contains(got, "walls.csv") && !strings.Contains(got, "of stone") {
		t.Errorf("an element without its text:\n%s", got)
	}
}

// A long text that the user sent twice is stated once, in the later message.
func TestRepeatedMessageIsStatedOnce(t *testing.T) {
	text := strings.Repeat("Look through all shelves and list those without a label. ", 5)
	got := renderWords(fitWords([]Word{{Step: 3, Text: text}, {Step: 5, Text: "Yes."}, {Step: 9, Text: text}, {Step: 11, Text: "Yes."}}, 2000, 2000, quarter), func(string) bool { return false })
	if want := "[s3] [… the same text as [s9]]\n[s5] Yes.\n[s9] " + strings.TrimSpace(text) + "\n[s11] Yes."; !strings.HasSuffix(got, want) {
		t.Errorf("the long text is not stated exactly once:\n%s", got)
	}
}

// A pasted text is quoted only where the user's own words in the same message lack it, even if
// these words have marks of emphasis.
func TestPastedTextRepeatsNoWordsOfTheUser(t *testing.T) {
	keep := "- **Count the shelves**: Use the list of `shelves.csv` to count all shelves of the house.\n- **Label the shelves**: Print one label for each shelf that has none.\n"
	text := "Prepare the house for the inspection.\n\n" + keep + "\n" + strings.Repeat("The old inspector liked the yellow lamps of the second floor, and he said so each time. ", 60)
	msgs := append([]message.Message{message.User(text)}, toolRun(1, "bash", `{"command":"ls"}`, "a.txt")...)
	got := written(t, taskState, 1500, Input{Messages: append(msgs, message.Assistant("The work goes on.")), Count: quarter})
	if strings.Count(got, "for each shelf that has none") != 1 || strings.Contains(got, "the text given says") {
		t.Errorf("the pasted text repeats words of the user:\n%s", got)
	}
}

// An announcement that the same answer carries out is not a next step. The rest of an amount is
// not open work. A check that named a wrong folder is not the failing check.
func TestWhatIsDoneIsNotNext(t *testing.T) {
	sum := "Let me add that up for you. The first room costs $871, of which the voucher pays $500 and the card $198. That is $173 for the first room (to cover the remaining $173 of $871). " +
		"The second room costs $871, of which the voucher pays $250 and the card $523. Would you like to book both rooms?"
	msgs := append(toolRun(1, "bash", `{"command":"npm run test -- ui/tests/rooms.test.ts"}`, "Exit code: 1\nzsh:1: no such file or directory: ui/tests/rooms.test.ts"),
		toolRun(2, "bash", `{"command":"npm run test -- tests/rooms.test.ts"}`, "Tests 4 passed (4)\nExit code: 0")...)
	got := wholeSummary(t, "", "What do both rooms cost?", append(msgs, message.Assistant(sum)))
	_, next, _ := strings.Cut(got, "## What is next")
	for _, no := range []string{"announced last", "said to be still open", "its last run failed"} {
		if strings.Contains(next, no) {
			t.Errorf("%q is next:\n%s", no, got)
		}
	}
	if !strings.Contains(next, "Would you like to book both rooms?") {
		t.Errorf("the next steps are wrong:\n%s", got)
	}
}

// A line of a page concerns the task if it has a word of the task other than the name for which
// it would be quoted. In a text without spaces, a name in Latin letters counts as a word.
func TestLineConcernsTheTask(t *testing.T) {
	for _, c := range []struct {
		task, line string
		want       bool
	}{
		{"Find the mills of the valley.", "Mills of the north: https://a.example.org/north-7", true},
		{"Find the mills of the valley.", "Soft beds: https://a.example.org/mills-7", false},
		{"简要分析一下Watermill的结构", "Watermill 的结构 https://a.example.org/north-7", true},
		{"简要分析一下Watermill的结构", "订阅 https://a.example.org/north-7", false},
		{"Go on.", "Soft beds: https://a.example.org/north-7", true},
	} {
		h := NewHistory(Request{Strategy: taskState, Messages: []message.Message{message.User(c.task)}, First: 1})
		_, name, _ := strings.Cut(c.line, "https")
		if got := h.concerns(c.line, "https"+name); got != c.want {
			t.Errorf("%q for %q: concerns returns %v, want the opposite", c.line, c.task, got)
		}
	}
}

// A sentence over two lines stays whole, with the command that it requires. The commands of an
// example are dropped first.
func TestCutMessageKeepsTheExactCommand(t *testing.T) {
	const exact = "When all boxes are counted and nothing is left to carry\nrun exactly this command:\n\n```\ncount --close all\n```"
	filler := strings.Repeat("The house has rooms with walls of stone, and the rooms have doors of wood.\n\n", 30)
	text := "Count the boxes.\n\n" + filler + "## Example\n\n```\ncat shelf_list.txt box_list.txt\n```\n\n## The end\n\n" + exact + "\n\n" + filler
	got := fitWords([]Word{{Step: 1, Text: text}}, 75, 75, quarter)[0].Text
	if !strings.Contains(got, exact) || strings.Contains(got, "box_list.txt") {
		t.Errorf("the sentence or its command is cut:\n%s", got)
	}
}

// The marks around a dispatched result are not an outcome of its command.
func TestMarksOfADispatchAreNoOutcome(t *testing.T) {
	msgs := toolRun(1, "bash", `{"command":"go vet ./mill/ && grep -rn 'Wheel' --include=*.go mill | head -30"}`, "BEGIN_DISPATCH_RESULT\nmill/wheel.go:3: type Wheel struct{}\nEND_DISPATCH_RESULT")
	if got := wholeSummary(t, "", "Review the mill.", msgs); strings.Contains(got, "DISPATCH_RESULT") {
		t.Errorf("a mark is quoted:\n%s", got)
	}
}
