package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// judged lists sentences of an assistant with their kinds; "" = neither a decision nor a
// conclusion.
var judged = []struct{ sentence, kind string }{
	{"I'll keep the old parser because two importers still depend on it.", "decision"},
	{"We will store amounts in cents instead of floats so that sums stay exact.", "decision"},
	{"The fix is to close the rows before the transaction is committed.", "decision"},
	{"The simplest approach is to pass the clock in, rather than to patch time.Now.", "decision"},
	{"Use a partial index instead of a trigger for the rows that were deleted.", "decision"},
	{"I’m moving the retry into the client rather than repeating it in each caller.", "decision"},
	{"Rather than guess the encoding, I'll read the header of the file.", ""},
	{"The name redirects to another repository, so I'll read the relevant files instead of the page alone.", ""},
	{"I'm going to go through the history of the workflow rather than rely on memory.", ""},
	{"Renaming the table is out of scope, because the reports read it by name.", "decision"},
	{"Decision: one queue for all tenants, because the load of each is small.", "decision"},
	{"The linter and the editor disagree on tabs, so I'll leave line 40 as it is because it breaks otherwise.", "decision"},
	{"The root cause is that the cache is filled before the config was read.", "conclusion"},
	{"The issue is that the pool hands out a connection that the server has closed.", "conclusion"},
	{"It was the proxy after all: the problem is a header that it strips on HEAD requests.", ""},
	{"The problem is that two workers write the same lock file at the same time.", "conclusion"},
	{"Key finding: the index is rebuilt for each tenant rather than once.", "conclusion"},
	{"The old handler returned the list instead of a copy of it, and callers changed it.", ""},
	{"The maintainers removed the flag in version 3 because nobody had used it.", ""},
	{"The reviewer wants the names changed instead of the comments.", ""},
	{"Now I will run the script again to verify the fix.", ""},
	{"Now I need to update the two helpers so that they return the new type instead of the old one.", ""},
	{"I'll use `sed` to replace the three lines because the editor mangles tabs.", ""},
	{"All tests of the importer pass now - the fix is compatible with the old files.", ""},
	{"The fix is working perfectly in both browsers, as the screenshots show.", ""},
	{"This will help me determine if the issue is in the driver or in the server.", ""},
	{"Now that the issue is fixed, the temporary file can go because nothing reads it.", ""},
	{"Another approach is to keep both formats and convert when a file is read.", ""},
	{"Maybe we should use a mutex here instead of the channel, I'm not sure.", ""},
	{"Would you rather that I use a mutex instead of the channel for this?", ""},
}

// A sentence that describes or announces something is not a decision. A diagnosis is a
// conclusion of the assistant.
func TestDecisionsAreDistinguishedFromConclusions(t *testing.T) {
	for _, c := range judged {
		h := NewHistory(Request{Strategy: TaskState, Messages: []message.Message{
			{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindText, Text: "Go on."}}},
			{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindText, Text: c.sentence}}},
			{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindText, Text: "Thank you."}}},
		}})
		got := ""
		for range h.decisions() {
			got += "decision"
		}
		for range h.conclusions() {
			got += "conclusion"
		}
		if got != c.kind {
			t.Errorf("%q is %q, want %q", c.sentence, got, c.kind)
		}
	}
}

// The log has no decision for an option that the user's answer refuses.
func TestDecisionLogQuotesUsersAnswer(t *testing.T) {
	in := long("Design the importer with me.", message.Assistant(table), message.User("A. doesn't work, the log is never read"), message.Assistant("Noted."))
	text := writtenBy(t, DecisionLog, in)
	if !strings.Contains(text, "user answered “A. doesn't work, the log is never read” :: - :: of the list: “A. Silent fallback") {
		t.Errorf("the answer is not in the log:\n%s", text)
	}
}

// The line of an effect states what the effect returned, because the successor needs the
// identifier of the created object. An assumption before a step that only looks is not a
// decision.
func TestDecisionLogHasResultsOfEffects(t *testing.T) {
	thought := message.Message{Role: message.RoleAssistant, Parts: []message.Part{
		{Kind: message.KindReasoning, Text: "The fix is to set QUEUE_MODE=plain instead of the flag, which should work without a terminal."}, message.Call("1", "bash", `{"command":"echo $QUEUE_MODE"}`)}}
	text := writtenBy(t, DecisionLog, long("Open the tickets for the importer.",
		thought, message.ToolResult("1", "plain\nexit code: 0"),
		message.Assistant("", message.Call("2", "bash", `{"command":"bd create --title 'Batch the inserts of the importer' --type task"}`)),
		message.ToolResult("2", "✓ Created issue: imp-7.2 — Batch the inserts of the importer\n  Priority: P2\nexit code: 0"),
		message.Assistant("", message.Call("3", "create_ticket", `{"title":"Keys"}`)), message.ToolResult("3", `{"ticket":"T-31","state":"open"}`),
		message.Assistant("Both are open.")))
	_, text, _ = strings.Cut(text, "## Decision log")
	log, _, _ := strings.Cut(text, "\n## ")
	for _, want := range []string{":: ✓ Created issue: imp-7.2 — Batch the inserts", ":: state: open, ticket: T-31"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in:\n%s", want, log)
		}
	}
	if strings.Contains(log, "QUEUE_MODE") {
		t.Errorf("an assumption is in the log:\n%s", log)
	}
}

// A decision log holds decisions. It leaves out refused offers, and commands without a
// reason, even if many of them fail.
func TestDecisionLogOmitsRefusedOffersAndCommands(t *testing.T) {
	var then []message.Message
	run := func(said, command, result string) {
		id := "c" + itoa(len(then))
		then = append(then, message.Assistant(said, message.Call(id, "bash", `{"command":"`+command+`"}`)), message.ToolResult(id, result))
	}
	then = append(then, message.Assistant("I recommend to drop the table instead of filling it."), message.User("No, keep the table."))
	run("We will fill the table in batches of 500 rows because single inserts take an hour.", "python fill.py", "done")
	run("The issue is that batch 7 holds a row without a key. I'll skip such rows and count them because the owner asked for a number.", "python fill.py --skip", "done")
	for i := range 80 {
		run("", "pytest tests/part"+itoa(i)+"/test_component_"+itoa(i)+".py", "FAILED tests/part"+itoa(i)+"/test_component_"+itoa(i)+".py - AssertionError: expected "+itoa(i)+"\n1 failed in 0.1s\n")
	}
	text := writtenBy(t, DecisionLog, long("Fill the table.", then...))
	_, text, _ = strings.Cut(text, "## Decision log")
	log, _, _ := strings.Cut(text, "\n## ")
	for _, want := range []string{"fill the table in batches of 500 rows :: single inserts take an hour.", "I'll skip such rows and count them :: the owner asked for a number"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in:\n%s", want, log)
		}
	}
	for _, no := range []string{"drop the table instead", "pytest"} {
		if strings.Contains(log, no) {
			t.Errorf("%q is in:\n%s", no, log)
		}
	}
}

// "Where things stand" lists a conclusion as a statement of the assistant, with its later
// retraction.
func TestSummaryMarksConclusions(t *testing.T) {
	in := long("Why does the nightly import fail?",
		message.Assistant("The root cause is that the importer leaks database connections."), message.User("Go on."),
		message.Assistant("Actually, the importer leaks no database connections: that was wrong."))
	text := writtenBy(t, TaskState, in)
	_, standing, _ := strings.Cut(text, "## "+headingStanding)
	if !strings.Contains(standing, concluded+"The root cause is that the importer leaks database connections.") || !strings.Contains(standing, "said later: “Actually") {
		t.Errorf("the conclusion or its retraction is not in:\n%s", text)
	}
	if strings.Contains(text, "## Decisions") {
		t.Errorf("a conclusion is listed as a decision:\n%s", text)
	}
}

// An option is not a decision until the user chooses it. The reasoning of a step that
// only looks is not a decision either.
func TestDecisionsIncludeOnlyChosenOptions(t *testing.T) {
	const offer = "There are two ways to get the key.\n\n1. Callers should use the option instead of the variable, because it is explicit.\n2. Keep the variable instead of the option, because scripts set it.\n\nWhat is your preference?"
	decisions := func(msgs ...message.Message) string {
		out := ""
		for _, f := range NewHistory(Request{Strategy: TaskState, Messages: append([]message.Message{message.User("Design it.")}, msgs...), First: 1}).decisions() {
			out += f.Text + "\n"
		}
		return out
	}
	if got := decisions(message.Assistant(offer), message.User("Neither. Read it from the keyring."), message.Assistant("Read.")); got != "" {
		t.Errorf("decisions, although the user chose another way:\n%s", got)
	}
	if got := decisions(message.Assistant(offer), message.User("2"), message.Assistant("Kept.")); !strings.Contains(got, "Keep the variable") || strings.Contains(got, "Callers should") {
		t.Errorf("the user chose the second option, decisions:\n%s", got)
	}
	thought := message.Message{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindReasoning, Text: "The fix is to set the variable instead of the flag, because the shell drops it."}}}
	looks, acts := thought, thought
	looks.Parts = append(looks.Parts[:1:1], message.Call("1", "bash", `{"command":"cat run.sh"}`))
	acts.Parts = append(acts.Parts[:1:1], message.Call("1", "edit", `{"path":"run.sh","old_string":"a","new_string":"b"}`))
	if got := decisions(looks, message.ToolResult("1", "exec")); got != "" {
		t.Errorf("the reasoning of a step that only looks is a decision: %s", got)
	}
	if got := decisions(acts, message.ToolResult("1", "The file run.sh has been updated.")); got == "" {
		t.Error("the reasoning of a step with an edit is not a decision")
	}
}

// A summary keeps only the last of several diagnoses of one problem.
func TestConclusionsKeepLastDiagnosis(t *testing.T) {
	h := NewHistory(Request{Strategy: TaskState, First: 1, Messages: []message.Message{message.User("Why does the hook crash?"),
		message.Assistant("The issue is that the hook reads contexts.json before the worktree creates it."), message.User("Look again."),
		message.Assistant("The root cause is that the worktree lacks the settings, so the hook reads contexts.json of another one."), message.User("Thanks.")}})
	text := ""
	for _, l := range h.conclusionLines(0) {
		text += l.Text + "\n"
	}
	if strings.Contains(text, "before the worktree creates") || !strings.Contains(text, "lacks the settings") {
		t.Errorf("conclusions:\n%s\nwant text without %q and text with %q", text, "before the worktree creates", "lacks the settings")
	}
}

// The lines about an answer begin with its verdict. A line with an item of a list also has
// the sentence that leads to the list.
func TestAnswerLinesStartWithVerdict(t *testing.T) {
	said := func(msgs ...message.Message) []string {
		var out []string
		for _, l := range NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1}).saidLines(0) {
			lead := ""
			if l.place != nil {
				lead = strings.Join(append(l.place.leads, ""), " ")
			}
			out = append(out, lead+l.Text)
		}
		return out
	}
	list := "Yes, already fixed.\n\nIt stands in all three places:\n- the state holds the new field since then\n- the hook compares it before it writes"
	got := said(message.User("That was just fixed, right?"), message.Assistant(list), message.User("Good."))
	if len(got) != 3 || got[0] != "Yes, already fixed." || got[1] != "It stands in all three places: the state holds the new field since then" || !strings.HasPrefix(got[2], "It stands in all three places:") {
		t.Errorf("got %q, want 3 lines that begin with the verdict", got)
	}
	if got := said(message.User("Move it to Monday."), message.Assistant("It is on Friday in economy. To which hour on Monday do you want to move it?"), message.User("9")); len(got) != 2 {
		t.Errorf("a question counts as a lead: %q", got)
	}
	if got := said(message.User("Fix it now."), message.Assistant("Yes, sure.\nThe rows are read once now, and the cache is gone."), message.User("Good.")); len(got) != 1 {
		t.Errorf("a verdict is quoted although nothing was asked: %q", got)
	}
}

func TestLastConclusionOfASubjectStays(t *testing.T) {
	step := func(id int, text string) Step { return Step{ID: id, Role: message.RoleAssistant, Text: text} }
	h := &History{index: newIndex(), Steps: []Step{
		{ID: 1, Role: message.RoleUser, Text: "Find out why the harbor bells ring twice."},
		step(2, "The issue is about bells that ring twice in the harbor."),
		step(3, "The problem is that the timer of the northern tower is started by two daemons."),
		step(4, "The issue is specific to foggy mornings on the coast."),
		step(5, "Based on my analysis, I believe the issue is that the fog sensor doubles its pulse."),
		step(6, "So it's not specific to foggy mornings."),
		step(7, "The issue is reproducible in every season and on every tower."),
		step(8, "The problem is that the timer of the northern tower fires for each daemon."),
		step(9, "The bug is a missing debounce on the rope switch in the belfry."),
		step(10, "The problem is that sockets of the relay stay open overnight."),
	}}
	got := ""
	for _, l := range h.conclusionLines(0) {
		got += strings.TrimPrefix(l.Text, concluded) + "\n"
	}
	want := "The problem is that the timer of the northern tower fires for each daemon. [s8]\n" +
		"The bug is a missing debounce on the rope switch in the belfry. [s9]\n" +
		"The problem is that sockets of the relay stay open overnight. [s10]\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if against := h.against(fact{Step: 4, Text: h.Steps[3].Text}); !strings.Contains(against, "[s6]") {
		t.Errorf("the short denial is not quoted: %q", against)
	}
}

func TestFixThatDidNotWorkIsNoDecision(t *testing.T) {
	for after, want := range map[string]int{"This patch doesn't actually fix anything. I look again.": 0, "Now the tests of the belfry.": 1} {
		h := &History{index: newIndex(), Steps: []Step{
			{ID: 1, Role: message.RoleAssistant, Text: "The fix is to debounce the rope switch in the belfry."},
			{ID: 2, Role: message.RoleAssistant, Text: after},
		}}
		if got := len(h.decisions()); got != want {
			t.Errorf("%q: %d decisions, want %d", after, got, want)
		}
	}
}
