package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// tells fails unless the summary of a conversation contains all texts of want and no text
// of not.
func tells(t *testing.T, in Input, want, not []string) {
	t.Helper()
	text := write4(t, in)
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in:\n%s", w, text)
		}
	}
	for _, n := range not {
		if strings.Contains(text, n) {
			t.Errorf("%q is in:\n%s", n, text)
		}
	}
}

func TestJSONResultIsStatedByItsMembers(t *testing.T) {
	tells(t, long("Where is my parcel?",
		message.Assistant("", message.Call("1", "get_parcel", `{"id":"P-4711"}`)),
		message.ToolResult("1", `{"id":"P-4711","carrier":"Nordpost","remarks":null,"tags":[],"weight_kg":2.5,"stops":[{"city":"Lund","day":"2024-03-01","note":"`+strings.Repeat("x y ", 30)+`"},{"city":"Malmo","day":"2024-03-02","note":"`+strings.Repeat("x y ", 30)+`"}]}`),
		message.Assistant("", message.Call("2", "get_parcel", `{"id":"P-9"}`)),
		message.ToolResult("2", `[]`),
		message.Assistant("It is in Malmo.")),
		[]string{"called `get_parcel` P-4711, which returned: id: P-4711, carrier: Nordpost, weight_kg: 2.5; stops: city: Lund, day: 2024-03-01", "city: Malmo, day: 2024-03-02", "`get_parcel` P-9, which returned: []"},
		[]string{"remarks", "tags", `"carrier"`})
}

func TestDigestOfInvalidJSONIsEmpty(t *testing.T) {
	for _, s := range []string{"", "plain", "{", `{"a":1} and more`, "[1,", strings.Repeat("[", 5000) + strings.Repeat("]", 5000)} {
		if got := digest(s); len(got) > 1 {
			t.Errorf("%.20q has %d members, want none", s, len(got))
		}
	}
}

func TestSpokenTextReadsSentencesOfForm(t *testing.T) {
	got := spokenText("Ledger:\n{\"done\":{\"reason\":\"The price has not been found yet.\",\"answer\":false},\"next\":{\"answer\":\"Web\"}}")
	if want := "Ledger:\n(done) The price has not been found yet."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, s := range []string{"no form", "call f({x}) first", "{broken", "```\n{\"a\":\"one two three four five\"}\n```"} {
		if got := spokenText(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestSummaryStatesReasonOfUndoneChange(t *testing.T) {
	tells(t, long("Make the importer faster.",
		message.Assistant("The batch loses rows whose key is empty. I take the change back:", message.Call("1", "bash", `{"command":"git checkout -- importer/batch.go"}`)),
		message.ToolResult("1", ""),
		message.Assistant("", message.Call("2", "bash", `{"command":"git status"}`)),
		message.ToolResult("2", "clean")),
		[]string{"took changes back with `git checkout -- importer/batch.go`: The batch loses rows whose key is empty."},
		[]string{"took changes back with `git status`"})
}

func TestFailuresOfCommandShareALineWithTheEnd(t *testing.T) {
	run := func(id, result string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "bash", `{"command":"python repro.py --all"}`)), message.ToolResult(id, result)}
	}
	var msgs []message.Message
	msgs = append(msgs, run("1", "Exit code 1\nModuleNotFoundError: No module named 'flask'")...)
	msgs = append(msgs, message.Assistant("", message.Call("x", "bash", `{"command":"mkdir -p out/cache"}`)), message.ToolResult("x", "Exit code 0"))
	msgs = append(msgs, run("2", "Exit code 1\nKeyError: 'region'")...)
	msgs = append(msgs, run("3", "Exit code 0\nfine")...)
	tells(t, long("Reproduce it.", msgs...),
		[]string{"`python repro.py --all` failed (exit 1): ModuleNotFoundError: No module named 'flask'; then [s8]: KeyError: 'region'; exit 0 in the end [s10]"}, nil)
}

// A failed check that later passed in another form does not count as failing any more. It may
// pass through another filter, or together with other checks.
func TestOtherFormsSettleChecks(t *testing.T) {
	run := func(id, cmd, result string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "bash", `{"command":"`+cmd+`"}`)), message.ToolResult(id, result)}
	}
	msgs := append(run("1", "npm test -- cart 2>&1", "Exit code 1\nTests: 1 failed\nError: cart total is 12, want 14"), run("2", "npm run lint", "Exit code 1\nerror: 2 problems")...)
	msgs = append(msgs, run("3", "npm test 2>&1 | tail -3", "Tests:       48 passed, 48 total")...)
	tells(t, long("Fix the cart.", msgs...),
		[]string{"`npm test 2>&1 | tail -3` passed: Tests: 48 passed, 48 total, after narrower runs had failed once", "failed (exit 1): Tests: 1 failed; passed in the end [s", "- `npm run lint` failed (exit 1)"},
		[]string{"- `npm test -- cart 2>&1` failed"})
}

// A failed run of more checks does not tell the state of a part that passed. A run without a
// stated outcome settles nothing.
func TestFailedAndUnknownRunsSettleNoCheck(t *testing.T) {
	run := func(id, cmd, result string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "bash", `{"command":"`+cmd+`"}`)), message.ToolResult(id, result)}
	}
	msgs := append(run("1", "npm test -- cart", "Tests:       4 passed, 4 total"), run("2", "npm test", "Exit code 1\nTests: 1 failed, 47 passed")...)
	msgs = append(msgs, run("3", "npm run lint", "Exit code 1\nerror: 2 problems")...)
	msgs = append(msgs, run("4", "npm run lint 2>&1 | tail -1", "see the report")...)
	tells(t, long("Fix the cart.", msgs...),
		[]string{"- `npm test -- cart` passed", "- `npm test` failed (exit 1)", "- `npm run lint` failed (exit 1)"}, []string{"after it had failed", "in the end"})
	h := NewHistory(Request{Messages: long("Fix the cart.", msgs...).Messages})
	if _, open := h.failing()["npm run lint"]; !open {
		t.Error("a run without an outcome settled the failed run")
	}
}

func TestSentenceWithReasonHasHigherValue(t *testing.T) {
	h := &History{}
	if why, what := h.weigh("The cache was dropped because two writers shared one key."), h.weigh("The cache was dropped by the two writers of that session."); why <= what {
		t.Errorf("a sentence has the value %v with a reason and %v without, want more with a reason", why, what)
	}
	if sure, perhaps := h.weigh("The cache holds two copies of every session key."), h.weigh("Maybe the cache holds two copies of a session key."); perhaps >= sure {
		t.Errorf("a sentence has the value %v as an assumption and %v as a statement, want less as an assumption", perhaps, sure)
	}
}

func TestRepeatedWordsLowerTheValue(t *testing.T) {
	c := newComposer(taskState, NewHistory(Request{Strategy: taskState}), 500, func(s string) int { return len(s) / 4 })
	all := c.candidates([]Line{{Text: "The importer skips rows without a region."}, {Text: "Rows without a region: the importer skips those."}, {Text: "Prices come from the nightly export."}})
	c.take(all[0], 500, false)
	if again, fresh := c.novelty(all[1]), c.novelty(all[2]); again >= fresh/2 {
		t.Errorf("repeated words have the value %v, new words %v; want at most half", again, fresh)
	}
}

func TestFilesOfFolderAreReadBack(t *testing.T) {
	files := []fileState{{Path: "a/x.go", Op: fileops.Created, Changes: 1}, {Path: "a/y.go", Op: fileops.Created, Changes: 3}, {Path: "a/z.go", Op: fileops.Created, Changes: 1}, {Path: "a/w.go", Op: fileops.Deleted, Changes: 1}}
	files[0].Last, files[1].Last, files[2].Last, files[3].Last = 31, 12, 40, 31
	line := folderLine("a", files)
	if !strings.HasSuffix(line, "; deleted w.go [s12–s40]") { // the line must not state that all files were changed at s31
		t.Errorf("the line %q does not end with the step of the deleted file", line)
	}
	dir, rest, _ := folderOfLine(line)
	back := filesInFolder(dir, rest)
	if len(back) != len(files) {
		t.Fatalf("%q has %d files, want %d", line, len(back), len(files))
	}
	for i, f := range back {
		if f.Path != files[i].Path || f.Op != files[i].Op || f.Changes != files[i].Changes {
			t.Errorf("%q: %+v, want %+v", line, f, files[i])
		}
	}
}

// Work that was open before an answer to the user is not a next step any more. Work that the
// answer itself calls open is a next step.
func TestNextOmitsWorkBeforeTheAnswer(t *testing.T) {
	msgs := []message.Message{
		message.User("Look around."), message.Assistant("There are twelve pages."), message.User("What else?"), message.Assistant("A theme."), message.User("And the tests?"), message.Assistant("None."),
		message.User("Select the only file by default."), message.Assistant("The selection still needs to be in the browser modal of the page.", message.Call("1", "edit", `{"path":"a.ts"}`)), message.ToolResult("1", "ok"),
		message.Assistant("Done. What still needs to be done is the translation of the dialog texts."), message.User("Good. Now the colors."),
		message.Assistant("The palette still needs to be read from the theme file first.", message.Call("2", "read", `{"path":"theme.ts"}`)), message.ToolResult("2", "red"),
	}
	var next []string
	for _, f := range NewHistory(Request{Strategy: taskState, Messages: msgs, First: 1}).next() {
		next = append(next, f.Text)
	}
	text := strings.Join(next, "\n")
	if strings.Contains(text, "browser modal") || !strings.Contains(text, "translation") || !strings.Contains(text, "palette") {
		t.Errorf("the next steps:\n%s\nwant text without %q, text with %q and text with %q", text, "browser modal", "translation", "palette")
	}
}

func TestPresentActivityIsAnnounced(t *testing.T) {
	for s, want := range map[string]bool{
		"I’m marking the task complete, then I'll commit.": true, "I am now running the whole suite.": true, "Reading the parser first, then I'll change it.": true,
		"I'm thinking about the parser.": false, "I'm not running it.": false, "I am king.": false, "I'm done.": false, "The parser is running.": false,
	} {
		if announces(s) != want {
			t.Errorf("%q announces: %v", s, !want)
		}
	}
}

func TestMultilineCommandIsQuotedBeyondItsFirstLine(t *testing.T) {
	cmd := "git add \\\n  rows.go \\\n  rows_test.go && git commit -F - <<'EOF'\nrows\nEOF"
	if got := shortCommand(cmd); got != "git add rows.go rows_test.go && git commit -F - <<'EOF'" {
		t.Errorf("the command is cut at its first line: %s", got)
	}
}

// A summary states how many items a list has, and marks the places of omitted items. A list that
// is quoted to its end has no mark there.
func TestListStatesItsSize(t *testing.T) {
	var rows []string
	for i := range 9 {
		rows = append(rows, `{"train":"T`+itoa(100+i)+`","from":"Lund","fares":{"flex":`+itoa(300+i)+`,"saver":`+itoa(90+i)+`},"note":"`+strings.Repeat("seat and bicycle ", 3)+`"}`)
	}
	tells(t, long("Find me a train.", ranCalls(
		[3]string{"search_trains", `{"from":"Lund"}`, "[" + strings.Join(rows, ",") + "]"},
		[3]string{"get_ticket", `{"id":"K-1"}`, `{"ticket":"K-1","seat":{"car":4,"row":12},"currency":"EUR"}`},
	)...), []string{"which returned: train: T100, from: Lund, ", "seat and bicycle … (9 items in all)", "row: 12; currency: EUR"}, []string{"T102", ";\n", "currency: EUR;", "currency: EUR …"})
}

// A part of a list that is quoted without the first part has the name of the list.
func TestPartOfAListHasItsName(t *testing.T) {
	b := &sharedBullet{told: map[groupKey]bool{}}
	for i, p := range digest(`{"plan":"P-1","legs":[{"from":"Lund","to":"Umea","note":"` + strings.Repeat("seat and bicycle ", 7) + `"},{"from":"Umea","to":"Boden","note":"` + strings.Repeat("seat and bicycle ", 7) + `"}]}`) {
		if i != 1 {
			b.add(&candidate{nth: i, Line: Line{Group: "[s4] called `get_plan` P-1" + returnedMark, Text: p.text, member: p.of, inside: i > 0}})
		}
	}
	if want := "which returned: plan: P-1; … legs: from: Umea, to: Boden,"; !strings.Contains(b.end(), want) {
		t.Errorf("%q is not in %s", want, b.end())
	}
}

// A digest quotes values down to a fixed depth. Deeper values cost time and add little.
func TestDigestHasADepth(t *testing.T) {
	for depth, want := range map[int]bool{2: true, 2000: false} {
		text := ""
		for _, p := range digest(`{"id":7,"legs":[` + strings.Repeat(`{"k":`, depth) + `"found"` + strings.Repeat("}", depth) + `]}`) {
			text += p.text
		}
		if !strings.Contains(text, "id: 7") || strings.Contains(text, "found") != want || strings.Count(text, "(") > 2*maxArgDepth {
			t.Errorf("depth %d: %.200s, want text with %q", depth, text, "id: 7")
		}
	}
}
