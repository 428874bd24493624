package strategy

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// titledPart returns the text under a heading of a summary.
func titledPart(text, title string) string {
	_, after, _ := strings.Cut("\n"+text, "\n## "+title+"\n")
	body, _, _ := strings.Cut(after, "\n## ")
	return body
}

func TestNewestRequestPrecedesFirstRequest(t *testing.T) {
	text := write4(t, long("Make the importer faster.",
		message.Assistant("The importer takes 12 ms now, the lookups are cached."),
		message.User("Leave the importer, write the exporter instead. It has to write CSV, please."),
		message.Assistant("The exporter writes CSV."),
		message.User("thanks!")))
	want := "- newest request in this part, replied to in [s6]: Leave the importer, write the exporter instead. It has to write CSV, please. [s5]\n" +
		"- older, the first request: Make the importer faster. [s1]"
	if got := titledPart(text, "Goals and success criteria"); strings.TrimSpace(got) != want {
		t.Errorf("%q in:\n%s", got, text)
	}
}

func TestSingleRequestIsNotCalledNewest(t *testing.T) {
	tells(t, long("Make the importer faster.", message.Assistant("On it.")), []string{"\n- Make the importer faster."}, []string{newestRequest, firstRequest})
}

// A request that introduces a heading or a sentence is quoted with that text.
func TestRequestKeepsTheTextThatItIntroduces(t *testing.T) {
	tells(t, long("Do the following:\n\n# Rename the ledger\n\nThe old name is misleading."), []string{"- Do the following: Rename the ledger"}, nil)
}

func TestRequestKeepsTheQuotationThatItIntroduces(t *testing.T) {
	tells(t, long("Look at what the bot says: \"\"\"\nThe cache is never emptied between two runs.\n\"\"\""), []string{"- Look at what the bot says: The cache is never emptied between two runs."}, nil)
}

func TestNextSummaryPutsItsNewestRequestFirst(t *testing.T) {
	one := write4(t, long("Make the importer faster.", message.Assistant("It takes 12 ms now."), message.User("Write the exporter now, as CSV."), message.Assistant("Done, it writes CSV.")))
	quiet := write4(t, Input{Previous: one, Messages: []message.Message{message.Assistant("The exporter also has a header now: "+strings.Repeat("it names each column. ", 60), message.Call("1", "bash", `{"command":"ls out"}`)), message.ToolResult("1", "a.csv")}})
	if want := "- newest request in this part, replied to in [s6]: Write the exporter now, as CSV. [s5]"; strings.Count(quiet, newestRequest) != 1 || !strings.Contains(quiet, want) {
		t.Errorf("%q is not in:\n%s", want, quiet)
	}
	two := write4(t, Input{Previous: quiet, Messages: long("Now document both of them in the manual.", message.Assistant("Both are documented in the manual.")).Messages})
	goals := titledPart(two, "Goals and success criteria")
	if !strings.HasPrefix(goals, "- newest request in this part, replied to in [s") || !strings.Contains(goals, "Now document both of them in the manual. [s") || !strings.Contains(goals, "\n- older, the first request: Make the importer faster. [s1]") || strings.Count(two, newestRequest) != 1 {
		t.Errorf("goals of the second summary:\n%s", two)
	}
}

// Statements of a reviewer, questions of the user and the memory of a harness are not
// decisions of the assistant.
func TestDecisionsOmitWordsOfOthers(t *testing.T) {
	in := long("Make the importer faster.",
		message.Assistant("I decided to batch the inserts because each commit syncs the disk.\n\n> I'd rather drop the table instead of batching, because nobody reads it.\n\nThe reviewer suggested that we should use a queue instead of the table, because it is simpler."),
		message.User("This session is being continued from a previous conversation. It was decided that the exporter should use a pool because it is faster."))
	got := ""
	for _, f := range NewHistory(Request{Strategy: TaskState, Messages: in.Messages, Count: in.Count}).decisions() {
		got += f.Text + "\n"
	}
	if !strings.Contains(got, "batch the inserts") || strings.Contains(got, "drop the table") || strings.Contains(got, "queue") || strings.Contains(got, "pool") {
		t.Errorf("decisions:\n%s\nwant text with %q, text without %q, text without %q and text without %q", got, "batch the inserts", "drop the table", "queue", "pool")
	}
}

func TestNextLinesHaveIntroductions(t *testing.T) {
	text := write4(t, long("Make the importer faster.",
		message.Assistant("The rename of the table is not yet started, it needs a migration."),
		message.Assistant("Let me run the linter over it.", message.Call("1", "bash", `{"command":"make lint"}`)),
		message.ToolResult("1", "Exit code: 0\n0 issues.")))
	want := []string{"- said to be still open: The rename of the table is not yet started, it needs a migration. [s4]", "- the last step: Let me run the linter over it. — `make lint` passed (exit 0): 0 issues. [s5]"}
	got := strings.Split(strings.TrimSpace(titledPart(text, "What is next")), "\n")
	if strings.Count(text, "Let me run the linter over it.") != 1 {
		t.Errorf("the announced step appears twice in:\n%s", text)
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%q is not in:\n%s", w, text)
		}
	}
}

func TestNextNamesRequestWithoutReply(t *testing.T) {
	in := long("Make the importer faster.", message.Assistant("It takes 12 ms now."), message.User("Write the exporter now."), message.Assistant("", message.Call("1", "bash", `{"command":"ls out"}`)), message.ToolResult("1", "a.csv"))
	waiting := "- not replied to in this part: the newest request [s5]"
	tells(t, in, []string{waiting}, nil)
	next := Input{Previous: write4(t, in), Messages: []message.Message{message.Assistant("", message.Call("2", "bash", `{"command":"ls src"}`)), message.ToolResult("2", strings.Repeat("src/a.go and more\n", 200))}}
	tells(t, next, []string{waiting}, nil)
	next.Messages = append(next.Messages, message.Assistant("The exporter is written. "+strings.Repeat("It has one file for each table. ", 30)))
	tells(t, next, nil, []string{"not replied to"})
	in.Visible = []message.Message{message.User("And the manual, please.")}
	tells(t, in, nil, []string{"not replied to"})
}

func TestDeedsAreWrittenAndReadBack(t *testing.T) {
	for text, f := range map[string]fileState{
		"edited":                                        {Op: fileops.Edited, Changes: 1},
		"edited twice":                                  {Op: fileops.Edited, Changes: 2},
		"edited 7 times (in Load and Store)":            {Op: fileops.Edited, Changes: 7, Funcs: []string{"Load", "Store"}},
		"created, then edited once":                     {Op: fileops.Created, Changes: 2},
		"created, then edited 3 times":                  {Op: fileops.Created, Changes: 4},
		"deleted after it had been changed twice":       {Op: fileops.Deleted, Changes: 3},
		"renamed from `b/old.go`, edited twice (in Go)": {Op: fileops.Renamed, From: "b/old.go", Changes: 3, Funcs: []string{"Go"}},
	} {
		if got := f.deeds(); got != text {
			t.Errorf("%q, want %q", got, text)
		}
		f.Path, f.Last = "b/new.go", 12
		back, ok := fileOfLine("`" + f.Path + "`: " + f.deeds() + saidBefore("edited it 9 times") + " [s12]")
		if f.Funcs = nil; !ok || back.Changes != f.Changes || back.Op != f.Op || back.From != f.From {
			t.Errorf("%q was read back as %+v", text, back)
		}
	}
	files := []fileState{{Path: "b/one.go", Op: fileops.Created, Changes: 2}, {Path: "b/two.go", Op: fileops.Created, Changes: 1}, {Path: "b/three.go", Op: fileops.Created, Changes: 1}}
	line := folderLine("b", files)
	if want := "In `b/`: created one.go, then edited once; created two.go; created three.go"; line != want {
		t.Errorf("%q, want %q", line, want)
	}
	dir, rest, _ := folderOfLine(line)
	if back := filesInFolder(dir, rest); len(back) != 3 || back[0].Path != "b/one.go" || back[0].Changes != 2 || back[2].Path != "b/three.go" {
		t.Errorf("%q was read back as %+v", line, back)
	}
}

func TestListItemsAreSeparated(t *testing.T) {
	tells(t, long("Which flights are there?", message.Assistant("There are three flights:\n- AV208 at 07:40 for 64 euros\n- AV214 at 11:05 for 95 euros\n\nAV208 is the cheaper one.")),
		[]string{"AV208 at 07:40 for 64 euros; AV214 at 11:05 for 95 euros. AV208 is the cheaper one."}, nil)
}

// A tool that asks the user a question may return the question. The question is not an
// answer.
func TestRepeatedQuestionIsNotAnAnswer(t *testing.T) {
	ask := message.Assistant("", message.Call("1", "ask_clarification", `{"question":"Which bank do you mean?","context":"The word has two meanings.","options":["the one at the river","the one with the money"]}`))
	tells(t, long("Write about the bank.", ask, message.ToolResult("1", "The word has two meanings.\n\nWhich bank do you mean?\n\n1. the one at the river\n2. the one with the money")),
		nil, []string{"the user answered"})
	tells(t, long("Write about the bank.", ask, message.ToolResult("1", `User has answered your questions: "Which bank do you mean?"="the one at the river". You can now continue with the answers in mind.`)),
		[]string{"the user answered: the one at the river"}, nil)
}

func TestSummaryOmitsNavigationOfPage(t *testing.T) {
	page := "[Home page of the journal](/home) [All articles](/articles)\n\n![A portrait of the author of this article](https://example.org/a.png)\n\n" +
		"The pump needs a low flow temperature, as the [field study](https://example.org/study) of 77 houses found.\n"
	tells(t, long("What does the pump need?", message.Assistant("", message.Call("1", "web_fetch", `{"url":"https://example.org/pumps"}`)), message.ToolResult("1", page)),
		[]string{"The pump needs a low flow temperature, as the [field study]"}, []string{"All articles", "portrait"})
}

func TestSummaryOmitsSinglePlainKey(t *testing.T) {
	if got := spokenText(`{"message":"Your parcel is on its way."}`); got != "Your parcel is on its way." {
		t.Errorf("got %q, want only the sentence", got)
	}
}

// The log quotes a short result of a tool in full. No other line repeats it.
func TestSummaryStatesShortResultOnce(t *testing.T) {
	text := write4(t, long("Pay the bill.", message.Assistant("", message.Call("1", "fetch_receipt", `{}`)), message.ToolResult("1", "The receipt of the bill B-77 has been put on the shelf of the office.")))
	if strings.Count(text, "shelf of the office") != 1 {
		t.Errorf("stated twice, or not at all:\n%s", text)
	}
}

// A file that a command has read existed before, so a later write does not count as its
// creation.
func TestWriteToReadFileIsNotACreation(t *testing.T) {
	read := func(result string) Input {
		return long("Add a method.", message.Assistant("", message.Call("1", "bash", `{"command":"cat lib/shapes.py"}`)), message.ToolResult("1", result),
			message.Assistant("", message.Call("2", "bash", `{"command":"cat <<'EOF' > lib/shapes.py\nclass Shape: pass\nEOF"}`)), message.ToolResult("2", "Exit code: 0\n"))
	}
	tells(t, read("Exit code: 0\nclass Shape:\n    name = ''"), []string{"`lib/shapes.py`: edited"}, []string{"`lib/shapes.py`: created"})
	tells(t, read("Exit code: 1\ncat: lib/shapes.py: No such file or directory"), []string{"`lib/shapes.py`: created"}, nil)
}
