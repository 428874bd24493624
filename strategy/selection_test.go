package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

const table = "**Next question:** How should failures be handled?\n\n| Option | Description |\n|---|---|\n" +
	"| **A. Silent fallback (recommended)** | Log the error and proceed. |\n| **B. Warn** | Print a warning, proceed. |\n| **C. Fail** | Return the error. |\n\nWhich do you prefer?"

func TestChosenReadsOptionsFromAnswer(t *testing.T) {
	const list = "There are three ways:\n1. Batch the inserts.\n2. Cache the lookups.\n3) Drop the index.\n\nWhich one do you want?"
	const report = "Done:\n1. Batched the inserts.\n2. Cached the lookups."
	for _, c := range []struct {
		text, answer string
		want         string // marks
	}{
		{table, "A.", "A"},
		{table, "b", "B"},
		{table, "A. is fine, ensure we log", "A"},
		{table, "I think B, as nobody reads the log of this tool, and please say in the README what it means for those who run it at night", "B"},
		{table, "yes, let's go with C", "C"},
		{table, "a test would be good, too", ""},
		{table, "I want something else", ""},
		{table, "D", ""},
		{table, "what would A cost?", ""},
		{table, "option A, is that safe?", ""},
		{list, "2", "2"},
		{list, "1 and 3", "1 3"},
		{list, "1, 2 & 3.", "1 2 3"},
		{list, "Implement 1,2 and 3.", "1 2 3"},
		{list, "ok, do 2", "2"},
		{list, "option #3 please", "3"},
		{list, "1. yes\n2. no, it hides mistakes", "1 2"},
		{list, "wait for 2 minutes, then go on", ""},
		{list, "the 2 of us decide tomorrow", ""},
		{list, "use version 1.2 of it", ""},
		{list, strings.Repeat("This is a plan of my own. ", 40) + "\n1. Nothing of it.", ""},
		{report, "2. Strengthen the tests, add a check of the totals", ""}, // the user's own list
		{report, "2", "2"},
		{"The file has 2 parts.", "2", ""},
		{"1. One item is no list. Is it?", "1", ""},
	} {
		taken, _ := chosen(c.text, c.answer)
		var got []string
		for _, o := range taken {
			got = append(got, o.mark)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q names %v, want %q", c.answer, got, c.want)
		}
	}
}

func TestEveryStrategyQuotesSelectionWithQuestion(t *testing.T) {
	in := long("Design the importer with me.", message.Assistant(table), message.User("A. is fine, ensure we log"), message.Assistant("Noted."))
	for _, s := range []Strategy{taskState, codeDelta, decisionLog, brief} {
		text := writtenBy(t, s, in)
		for _, want := range []string{"to “Next question: How should failures be handled?” the user answered “A. is fine, ensure we log”", "“A. Silent fallback (recommended) — Log the error and proceed.”", "[s5]"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in:\n%s", s.Name, want, text)
			}
		}
		if strings.Contains(text, "answered the assistant's") {
			t.Errorf("%s states the selection twice:\n%s\nwant text without %q", s.Name, text, "answered the assistant's")
		}
	}
}

// Selections compete with changed files, which have about the same value. If there is
// little room, neither the selections nor the files take all of it.
func TestSelectionsShareRoomWithChangedFiles(t *testing.T) {
	var then []message.Message
	for i := range 60 {
		id := "w" + itoa(i)
		then = append(then, message.Assistant("", message.Call(id, "write_file", `{"path":"src/part`+itoa(i)+`/deeply/nested/component_`+itoa(i)+`.go","content":"x"}`)), message.ToolResult(id, "ok"))
	}
	then = append(then, message.Assistant(table), message.User("B."), message.Assistant("Noted."))
	if text := writtenBy(t, taskState, long("Design the importer with me.", then...)); !strings.Contains(text, "“B. Warn — Print a warning, proceed.”") || !strings.Contains(text, "component_59.go") {
		t.Errorf("a selection or the newest file is not in:\n%s", text)
	}
}

// Temporary files come after the files that stay.
func TestTemporaryFilesComeLast(t *testing.T) {
	var then []message.Message
	write := func(path string) {
		id := "w" + itoa(len(then))
		then = append(then, message.Assistant("", message.Call(id, "write_file", `{"path":"`+path+`","content":"x"}`)), message.ToolResult(id, "ok"))
	}
	for i := range 20 {
		write("src/part" + itoa(i) + "/deeply/nested/component_" + itoa(i) + ".go")
	}
	for i := range 20 {
		write("/tmp/run" + itoa(i) + "/output/of_the_check_" + itoa(i) + ".txt")
	}
	text := writtenBy(t, taskState, long("Build the parts.", then...))
	if kept, scratch := strings.Count(text, "component_"), strings.Count(text, "of_the_check_"); kept < 10 || scratch > kept {
		t.Errorf("%d files that stay, %d temporary ones in:\n%s", kept, scratch, text)
	}
	if !temporary(`C:\Users\a\AppData\Local\Temp\x.txt`) || temporary("src/tmp/x.go") {
		t.Error("the place of a temporary file is unknown")
	}
}

// A recommendation becomes a decision when the user accepts it, but not when they accept or
// reject another item of the list.
func TestAcceptedRecommendationIsADecision(t *testing.T) {
	const said = "I'd recommend option A, as the fix is simpler because nothing waits for the log."
	for answer, want := range map[string]bool{"A.": true, "let's go with A": true, "yes": true, "B": false, "yes, go with B": false, "option A doesn't work for us": false, "not A": false, "C, please": false} {
		got := decisionsOf(t, long("Design the importer with me.", message.Assistant(table+"\n\n"+said), message.User(answer), message.Assistant("Fine.")))
		if strings.Contains(got, "nothing waits for the log") != want {
			t.Errorf("answered %q, decisions:\n%s", answer, got)
		}
	}
}

// If a message has two lists, the answer refers to the last list and to the question near
// it.
func TestAnswerRefersToLastList(t *testing.T) {
	findings := "I found:\n1. A package exists.\n2. Nothing calls it.\n\n"
	taken, question := chosen(findings+table, "A.")
	if len(taken) != 1 || question != "Next question: How should failures be handled?" {
		t.Errorf("%v answers %q, want %q", taken, question, "Next question: How should failures be handled?")
	}
	taken, _ = chosen(findings+"What do you want?\n1. Keep it.\n2. Remove it.", "2")
	if len(taken) != 1 || taken[0].text != "2. Remove it." {
		t.Errorf("the answer 2 refers to %v, want the second item", taken)
	}
}

func TestNewestSelectionsHaveHighestValue(t *testing.T) {
	var then []message.Message
	for range 12 {
		then = append(then, message.Assistant(table), message.User("B."))
	}
	lines := readOf(long("Design the importer with me.", then...)).selectionLines(0, selection.line)
	if len(lines) != 12 || lines[0].Value >= lines[11].Value/2 {
		t.Errorf("%d lines, want 12 with the highest value last: %v", len(lines), lines)
	}
}

// In a summary, backticks mark commands with a stated outcome. The quotation of an option has no
// outcome and no backticks.
func TestQuotedOptionHasNoBackticks(t *testing.T) {
	text := writtenBy(t, taskState, long("Design the importer with me.", message.Assistant("Which flag?\n1. `--fast` of `import`\n2. `--safe`"), message.User("1"), message.Assistant("Noted.")))
	if !strings.Contains(text, "“1. --fast of import”") {
		t.Errorf("the quotation of the option is wrong in:\n%s", text)
	}
}

func readOf(in Input) *History {
	return NewHistory(Request{Strategy: taskState, Messages: in.Messages, First: 1})
}

// wrote returns a call that creates a file, with its result.
func wrote(path string) []message.Message {
	return []message.Message{message.Assistant("", message.Call(path, "write_file", `{"path":"`+path+`","content":"x"}`)), message.ToolResult(path, "ok")}
}

// Each further changed folder has a lower value, so that other lines come between them, but
// never a lower value than a failure.
func TestChangedFoldersLoseValueButStayAboveFailures(t *testing.T) {
	var then []message.Message
	for i := range 40 {
		then = append(then, wrote("src/part"+itoa(i)+"/main.go")...)
	}
	lines := readOf(long("Build the parts.", then...)).fileLines(0)
	folders := lines[alone:]
	if len(folders) != 40-alone || folders[10].Value > folders[0].Value*0.6 || folders[len(folders)-1].Value < failedValue {
		t.Errorf("%d folders, want each further one with a lower value, but none below a failure: %v", len(folders), folders)
	}
}

// Files that stay get lines of their own before newer temporary files do.
func TestTemporaryFilesGetNoSeparateLines(t *testing.T) {
	then := wrote("src/importer.go")
	for i := range 2 * alone {
		then = append(then, wrote("/tmp/check"+itoa(i)+".txt")...)
	}
	if text := write4(t, long("Build the importer.", then...)); !strings.Contains(text, "`src/importer.go`: created") || strings.Contains(text, "- `/tmp/check") {
		t.Errorf("src/importer.go has no line of its own, or a temporary file has one:\n%s", text)
	}
}

func TestNamesOfEarlierSummaryAreNotCarried(t *testing.T) {
	in := long("Go on.", message.Assistant("I do."))
	in.Previous = "## Key entities\n- the summary before names alphaBeta and gammaDelta\n- `src/importer.go`: edited twice [s4]"
	if text := write4(t, in); strings.Contains(text, "the summary before names") || !strings.Contains(text, "src/importer.go") {
		t.Errorf("only names are carried, or the file is missing:\n%s", text)
	}
}

// A later message that goes over to another option of the list replaces the choice. A
// question, and a message that only mentions an option, do not.
func TestLaterOptionReplacesSelection(t *testing.T) {
	for later, want := range map[string]string{
		"Keep the name of it. Use option 1 after all: clamp it.": "to “Which one?” the user answered “Use option 1 after all: clamp it.” [s5], of the list: “1. Clamp the value.” [s2]",
		"Let's go back to option 3.":                             "to “Which one?” the user answered “Let's go back to option 3.” [s5], of the list: “3. Leave it.” [s2]",
		"Doch lieber Option 1.":                                  "to “Which one?” the user answered “Doch lieber Option 1.” [s5], of the list: “1. Clamp the value.” [s2]",
		"Why not option 1 instead?":                              "to “Which one?” the user answered “2” [s3], of the list: “2. Make it positive.” [s2]",
		"The docs mention option 1 as well.":                     "to “Which one?” the user answered “2” [s3], of the list: “2. Make it positive.” [s2]",
		"Good that we took it instead of option 1.":              "to “Which one?” the user answered “2” [s3], of the list: “2. Make it positive.” [s2]",
		"Don't use option 1 instead.":                            "to “Which one?” the user answered “2” [s3], of the list: “2. Make it positive.” [s2]",
	} {
		h := NewHistory(Request{Strategy: taskState, First: 1, Messages: []message.Message{
			message.User("Fix the delay."), message.Assistant("There are three ways:\n1. Clamp the value.\n2. Make it positive.\n3. Leave it.\n\nWhich one?"), message.User("2"), message.Assistant("It is positive now."), message.User(later)}})
		var got []string
		for _, s := range h.selections() {
			got = append(got, s.line())
		}
		if text := strings.Join(got, " | "); text != want {
			t.Errorf("%s: %s, want %s", later, text, want)
		}
	}
}
