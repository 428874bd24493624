package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// nextOf returns the section about next steps of a summary of the messages.
func nextOf(t *testing.T, msgs ...message.Message) string {
	t.Helper()
	h := NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1})
	out := ""
	for _, l := range h.nextLines(0) {
		out += l.Text + "\n"
	}
	return out
}

func command(id, text, command, result string) []message.Message {
	return []message.Message{message.Assistant(text, message.Call(id, "bash", `{"command":"`+command+`"}`)), message.ToolResult(id, result)}
}

func TestNextOmitsStepThatAnotherStepFollowed(t *testing.T) {
	user, step := message.User("Make the importer faster."), command("1", "Let me count the rows of each table.", "psql -c count", "rows\n12 rows in orders")
	with := func(more ...message.Message) []message.Message {
		return append(append([]message.Message{user}, step...), more...)
	}
	if got := nextOf(t, with()...); !strings.Contains(got, "the last step: Let me count the rows of each table. — ran `psql -c count`, which printed: 12 rows in orders [s2]") {
		t.Errorf("the outcome of the last step is missing:\n%s", got)
	}
	for name, more := range map[string][]message.Message{
		"a step":    command("2", "", "make dump", "done"),
		"an answer": {message.Assistant("There are twelve.")},
		"the user":  {message.User("Leave that. Write the exporter.")},
	} {
		if got := nextOf(t, with(more...)...); strings.Contains(got, "count the rows") {
			t.Errorf("after %s the announced step is still a next step:\n%s", name, got)
		}
	}
}

// The line of a step with many calls states the outcomes of the first two. With all
// outcomes, one step that reads ten files would fill the line.
func TestLastStepStatesTwoOutcomes(t *testing.T) {
	runs := []string{"psql -c orders", "psql -c users", "psql -c invoices", "psql -c refunds"}
	for n := 1; n <= len(runs); n++ {
		var calls []message.Part
		var results []message.Message
		for i, run := range runs[:n] {
			id := string(rune('1' + i))
			calls = append(calls, message.Call(id, "bash", `{"command":"`+run+`"}`))
			results = append(results, message.ToolResult(id, "rows\n12 rows were counted"))
		}
		got := nextOf(t, append([]message.Message{message.User("Make the importer faster."), message.Assistant("Let me count the rows of each table.", calls...)}, results...)...)
		_, outcomes, _ := strings.Cut(got, "Let me count the rows of each table. — ")
		for i, run := range runs {
			if told := strings.Contains(outcomes, run); told != (i < min(n, 2)) {
				t.Errorf("%d calls: outcome of call %d stated: %v\n%s", n, i+1, told, got)
			}
		}
	}
}

func TestNextNamesRemainderOfLastStep(t *testing.T) {
	got := nextOf(t, append([]message.Message{message.User("Finish the task.")}, command("1", "I'm marking the task as done, then I'll review the diff and push the branch", "task done 7", "task 7 done")...)...)
	if !strings.Contains(got, "announced with it, and not begun in this part: review the diff and push the branch") {
		t.Errorf("the rest of the announcement is missing:\n%s", got)
	}
}

func TestNextNamesFailingCheck(t *testing.T) {
	failed := append([]message.Message{message.User("Make it green.")}, command("1", "", "go test ./store", "Exit code: 1\n--- FAIL: TestRows")...)
	if got := nextOf(t, failed...); !strings.Contains(got, "its last run failed: `go test ./store` [s2]") {
		t.Errorf("the failing check is missing:\n%s", got)
	}
	passed := append(failed[:len(failed):len(failed)], command("2", "", "go test ./...", "Exit code: 0\nok  \tstore\t0.1s")...)
	refused := append(failed[:1:1], command("1", "", "go test ./store", "<tool_use_error>Sibling tool call errored</tool_use_error>")...)
	unknown := append(failed[:len(failed):len(failed)], command("2", "", "go test ./store | tail -3", "three rows were read")...)
	if lines := NewHistory(Request{Strategy: TaskState, Messages: unknown, First: 1}).checkLines(0); len(lines) != 1 || !strings.HasSuffix(lines[0].Text, "[s2]; it ran again, with no outcome stated [s4]") {
		t.Errorf("%+v, want one line about the run without an outcome", lines)
	}
	for name, msgs := range map[string][]message.Message{"it passed": passed, "it was not run": refused, "the outcome is unknown": unknown} {
		if got := nextOf(t, msgs...); strings.Contains(got, "its last run failed") {
			t.Errorf("%s:\n%s\nwant text without %q", name, got, "its last run failed")
		}
	}
}

func TestNextOmitsQuestionThatWorkFollowed(t *testing.T) {
	ask := []message.Message{message.User("Sell the old car."), message.Assistant("Which price do you have in mind for it?")}
	if got := nextOf(t, ask...); !strings.Contains(got, "asked the user, and no answer stands in this part: Which price") {
		t.Errorf("the next steps:\n%s\nwant text with %q", got, "asked the user, and no answer stands in this part: Which price")
	}
	went := append(ask[:2:2], command("1", "", "curl offers", "three offers")...)
	if got := nextOf(t, went...); strings.Contains(got, "Which price") {
		t.Errorf("after calls without text:\n%s\nwant text without %q", got, "Which price")
	}
	h := NewHistory(Request{Strategy: TaskState, Messages: ask, Visible: []message.Message{message.User("About 4,000.")}, First: 1})
	text := ""
	for _, l := range h.nextLines(0) {
		text += l.Text + "\n"
	}
	if strings.Contains(text, "no answer") || !strings.Contains(text, "asked the user last, whose next message follows this block: Which price") {
		t.Errorf("with a user message after the block:\n%s", text)
	}
}

// A question that ends a list is quoted with the list.
func TestQuestionOfListIsWhole(t *testing.T) {
	for text, want := range map[string]string{
		"I can't cancel one item.\n\nWould you like to:\n1. Cancel the whole order, or\n2. Change the lamp?\n\nPlease let me know.": "Would you like to: 1. Cancel the whole order, or 2. Change the lamp?",
		"I did this:\n- the lamp\n- the chair\n\nShall I go on?":                                                                    "Shall I go on?",
		"It is done.\n- Shall I go on?": "Shall I go on?",
		"It is done.":                   "",
	} {
		if got := lastQuestion(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A list is a plan only if its heading says so, in whole words, and is not the heading of
// a report.
func TestPlanListIgnoresReportOfFinishedSteps(t *testing.T) {
	for heading, plan := range map[string]bool{
		"Next steps:": true, "## Plan": true, "My approach is this:": true, "What remains to do:": true, "下面是步骤：": true,
		"Checks run for v4.41.0-next.1:": false, "The steps that I ran:": false, "Files changed:": false, "I planned nothing but here is a list:": false, "Recommended:": true,
	} {
		text := heading + "\n1. measure the importer\n2. batch the inserts\n"
		if got := planList(text) != ""; got != plan {
			t.Errorf("%q: counts as a plan: %v, want the opposite", heading, got)
		}
	}
	list := message.Assistant("Plan:\n1. measure the importer\n2. batch the inserts")
	if got := nextOf(t, message.User("Make it faster."), list); !strings.Contains(got, "measure the importer; batch the inserts") {
		t.Errorf("the plan is not a next step:\n%s", got)
	}
	if got := nextOf(t, message.User("Make it faster."), list, message.User("Go."), message.Assistant("It takes 12 ms now.")); strings.Contains(got, "batch the inserts") {
		t.Errorf("a reported plan is a next step:\n%s", got)
	}
}

func TestLeavesOpenIgnoresDeniedWork(t *testing.T) {
	for s, open := range map[string]bool{
		"The translation still needs to be done by somebody who knows it.":  true,
		"So we don't need to fix anything for the empty rows.":              false,
		"Now regarding your follow-up question about the fields.":           false,
		"The rename of the table is not yet started, it needs a migration.": true,
		"A follow-up is the rename of the second table in the schema.":      true,
		"There is no remaining work in the importer, as far as I see.":      false,
		"The context window of the next message is smaller than that.":      false,
		"Next, the exporter has to learn about the new column of rows.":     true,
	} {
		if got := leavesOpen(s); got != open {
			t.Errorf("%q: leavesOpen returns %v, want the opposite", s, got)
		}
	}
}

// A quotation of a forbidden item keeps the word that forbids it, and is not joined with
// text from another place.
func TestQuotedListKeepsItsLead(t *testing.T) {
	s := Step{ID: 1, Shown: `# Rules
Do not submit changes to any of the following files:
- reproduction scripts and the tests that you wrote for them
- helper scripts and tools that you created on the way

The patch must only contain changes to the source files.

## Example of an answer
I need to understand the code of the builder before I go on.`}
	text := ""
	for _, l := range s.shownLines(0) {
		text += l.Text + "\n"
	}
	for _, want := range []string{"Do not submit changes to any of the following files: reproduction scripts", "; helper scripts and tools that you created on the way. The patch must", "The patch must only"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "builder") {
		t.Errorf("an example is quoted:\n%s", text)
	}
}

func TestRequestMarksOmittedText(t *testing.T) {
	f := wanted(3, "ok, it generally works now but I think the line numbers are off, here is what it prints for me:\nBuilding the command from the sources of main.\nThe rows come out in another order than they did.\nCan you check the table of the index as well?")
	if len(f) != 1 || !strings.HasPrefix(f[0].Text, "ok, it generally works now") || !strings.Contains(f[0].Text, "… Can you check") {
		t.Errorf("got %+v, want one request with a mark for the omitted text", f)
	}
	if got := ends(strings.Repeat("word ", 400)+"and the middle of a sentence. It ends here. Please submit it when you are done.", 100, 60, "[…]"); strings.Contains(got, "middle of") || !strings.HasSuffix(got, "Please submit it when you are done.") {
		t.Errorf("got %q, want whole sentences", got)
	}
}

// The summary of a harness is not an answer of the assistant to the user.
func TestSummaryOfHarnessIsNotAnAnswer(t *testing.T) {
	msgs := []message.Message{message.User("Read the full transcript."), message.Assistant("", message.Call("1", "bash", `{"command":"cat full.jsonl"}`)), message.ToolResult("1", "rows"),
		message.User("This session is being continued from a previous conversation.\nNext steps:\n1. read the parser once more\n2. tell the user what it cuts\nPending: the review needs to be done."), message.User("review"),
		message.Assistant("", message.Call("2", "bash", `{"command":"cat parser.go"}`)), message.ToolResult("2", "package parser")}
	h := NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1})
	text := nextOf(t, msgs...)
	for _, l := range append(h.proposalLines(0), h.saidLines(0)...) {
		text += l.Text + "\n"
	}
	for _, f := range h.goals() {
		text += f.Text + "\n"
	}
	for _, not := range []string{"a plan that the assistant wrote", "answered the assistant's", "replied to in [s4]", "said to be still open"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is in:\n%s", not, text)
		}
	}
}

func TestWithdrawnMessageIsNotARequest(t *testing.T) {
	h := NewHistory(Request{Strategy: TaskState, First: 1, Messages: []message.Message{message.User("I think the design can be further simplified, please do it."), message.Assistant("How?"),
		message.User("Rename the column of the orders table as well, please."), message.User("ignore last message, wrong chat")}})
	if f := h.goals(); len(f) != 1 || !strings.HasPrefix(f[0].Text, "I think the design") {
		t.Errorf("got %+v, want only the request that was not withdrawn", f)
	}
}

// A long command is quoted from its first change on. Of its output, the line about the commit is
// quoted.
func TestLongCommandIsQuotedFromItsEffect(t *testing.T) {
	cmd := "git add internal/importer/rows.go internal/importer/rows_test.go internal/importer/index.go docs/importer.md && git commit -m 'importer: batch the inserts'"
	c := Call{Tool: "bash", Args: []Arg{{"command", cmd}}, Answered: true, Exit: 0, Outcome: OK, Result: "[main 1a2b3c4] importer: batch the inserts\n 4 files changed, 20 insertions(+)\n delete mode 100644 old.go"}
	if got := c.tell(); !strings.HasPrefix(got, "ran `… && git commit -m 'importer: batch the inserts'`") || !strings.HasSuffix(got, "[main 1a2b3c4] importer: batch the inserts") {
		t.Errorf("got %q, want the command from its commit on", got)
	}
	if c.Outcome, c.Exit = Failed, 128; !strings.HasPrefix(c.tell(), "`git add internal/importer/rows.go") {
		t.Errorf("a failed command is not quoted from its beginning: %q", c.tell())
	}
	if got := fromEffect("go build ./... && echo built"); got != "go build ./... && echo built" {
		t.Errorf("%q, want the whole command", got)
	}
}

// An item of a list of possibilities or negations is quoted with the lead of the list.
func TestItemOfAlternativesKeepsItsLead(t *testing.T) {
	h := NewHistory(Request{Strategy: TaskState, First: 1, Messages: []message.Message{message.User("They do not show."),
		message.Assistant("If they do not appear in the dashboard, then very likely one of these is true, as far as I can tell from here:\n- the eval never produced a summary of the rows\n- the project is not registered in the dashboard"), message.User("Thanks.")}})
	lines := h.saidLines(0)
	if len(lines) != 2 || !strings.Contains(strings.Join(lines[0].place.leads, " "), "one of these is true") || !strings.Contains(strings.Join(lines[1].place.leads, " "), "one of these is true") {
		t.Errorf("%+v, want two lines with their lead", lines)
	}
}

func TestFailureNamesItsOtherCause(t *testing.T) {
	msgs := append([]message.Message{message.User("Make it green.")}, command("1", "", "go test ./store", "Exit code: 1\n--- FAIL: TestClock")...)
	msgs = append(msgs, message.Assistant("TestClock is a pre-existing failure that depends on the time zone."), message.User("Fine. Go on with the docs."))
	msgs = append(msgs, command("2", "", "cat docs.md", "the docs")...)
	if got := nextOf(t, msgs...); !strings.Contains(got, "its last run failed: `go test ./store`; said later: “TestClock is a pre-existing failure that depends on the time zone.” [s4] [s2]") {
		t.Errorf("the next steps:\n%s", got)
	}
}

func TestNextOmitsFailureThatSessionLeftBehind(t *testing.T) {
	failed := append([]message.Message{message.User("Make the store green.")}, command("1", "", "tsc --noEmit src/rows.ts", "Exit code: 2\nsrc/rows.ts(3,1): error TS1343: no")...)
	with := func(more ...message.Message) string { return nextOf(t, append(failed[:3:3], more...)...) }
	const still = "its last run failed: `tsc --noEmit src/rows.ts` [s2]"
	commit := command("2", "", "git commit -am rows", "Exit code: 0\n[main 1a2b3c4] rows\n 2 files changed")
	var talk []message.Message
	for _, words := range []string{"Rename the columns.", "Now the views.", "Write the changelog."} {
		talk = append(talk, message.User(words), message.Assistant("Done."))
	}
	if got := with(talk[:2]...); !strings.Contains(got, still) {
		t.Errorf("after one request:\n%s\nwant text with %q", got, still)
	}
	if got := with(command("2", "", "git commit -am rows", "Exit code: 1\nhusky failed")...); !strings.Contains(got, still) {
		t.Errorf("after a commit that failed:\n%s\nwant text with %q", got, still)
	}
	for name, more := range map[string][]message.Message{"a commit": commit, "three requests": talk} {
		if got := with(more...); strings.Contains(got, still) {
			t.Errorf("after %s:\n%s\nwant text without %q", name, got, still)
		}
	}
}

// A list of results is no plan because a time is in the line before it, and neither is a list
// of steps that were taken.
func TestResultsAreNoPlan(t *testing.T) {
	for _, text := range []string{
		"The ferry leaves at 21:00 and arrives the next day (18 May):\n- Fare: 334 EUR\n- Cabin: 40 EUR\n",
		"### Steps taken to mend it\n1. We wrote the data.\n2. We ran the script.\n",
	} {
		if list := planList(text); list != "" {
			t.Errorf("%q: %s, want none", text, list)
		}
	}
	if list := planList("### Updated steps\n1. Print the folder.\n2. List the files.\n"); list != "Print the folder.; List the files." {
		t.Error(list)
	}
}
