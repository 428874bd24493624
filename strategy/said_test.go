package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// long returns a session that begins with a long result, so that a summary can be shorter.
func long(ask string, then ...message.Message) Input {
	return Input{Messages: append([]message.Message{
		message.User(ask),
		message.Assistant("", message.Call("0", "read", `{"path":"notes.txt"}`)),
		message.ToolResult("0", strings.Repeat("a long line that says very little about anything\n", 200)),
	}, then...)}
}

func TestSummaryQuotesQuestionWithShortAnswer(t *testing.T) {
	text := write4(t, long("Make the importer faster.",
		message.Assistant("There are two ways:\n1. Batch the inserts, which needs a migration.\n2. Cache the lookups in memory.\n\nWhich one do you want?"),
		message.User("ok, do 2"),
		message.Assistant("On it."),
	))
	if want := "to “Which one do you want?” the user answered “ok, do 2” [s5], of the list: “2. Cache the lookups in memory.” [s4]"; !strings.Contains(text, want) {
		t.Errorf("%q is not in:\n%s", want, text)
	}
}

func TestRequestIsNotAnAnswer(t *testing.T) {
	text := write4(t, long("Make the importer faster.",
		message.Assistant("Done. The importer takes 12 ms now."),
		message.User("alright, do a release"),
		message.Assistant("Released.")))
	if strings.Contains(text, " answered the assistant's ") {
		t.Errorf("a request counts as an answer in:\n%s", text)
	}
}

func TestSummaryQuotesReportWithItsTable(t *testing.T) {
	text := write4(t, long("Which backend is fastest?",
		message.Assistant("I measured three backends.\n\n| backend | time |\n|---|---|\n| memory | 12 ms |\n| disk | 340 ms |\n\nDisk is slow because every write syncs."),
	))
	if want := "told the user: I measured three backends. backend | time: memory | 12 ms; disk | 340 ms. Disk is slow because every write syncs."; !strings.Contains(text, want) {
		t.Errorf("%q is not in:\n%s", want, text)
	}
}

// The rows of a table are quoted with the names of the columns. Labels that occur under several
// headings are quoted with their heading.
func TestLabelsKeepTheirHeading(t *testing.T) {
	text := write4(t, long("Compare both ways.",
		message.Assistant("## Way 1: one file\n\n**Pros:**\n- The parser reads one file of rows\n\n**Cons:**\n- Two writers of the file block each other\n\n## Way 2: a file per day\n\n**Pros:**\n- Old days are deleted without a lock\n\n**Cons:**\n- A query over a month opens thirty files\n\n### Open points\n\n1. The retention of `days.idx` is not known yet.\n"),
	))
	want := "Way 1: one file: Pros: The parser reads one file of rows. Cons: Two writers of the file block each other. " +
		"Way 2: a file per day: Pros: Old days are deleted without a lock. Cons: A query over a month opens thirty files. Open points: 1. The retention"
	if !strings.Contains(text, want) {
		t.Errorf("%q is not in:\n%s", want, text)
	}
}

func TestSummaryKeepsFindingsBesideCallsWithoutNarration(t *testing.T) {
	text := write4(t, long("Make the check pass.",
		message.Assistant("The check is blocked by an oversized file under tmp, not by the code. Let me look at the folder of temporary files.", message.Call("1", "bash", `{"command":"ls -la tmp"}`)),
		message.ToolResult("1", "session.json 1.5 MiB"),
	))
	if !strings.Contains(text, "noted: The check is blocked by an oversized file under tmp, not by the code.") || strings.Contains(text, "noted: The check is blocked by an oversized file under tmp, not by the code. Let me") {
		t.Errorf("want the finding, and no narration, in:\n%s", text)
	}
}

func TestSetbacksAreOnlyQuoted(t *testing.T) {
	text := write4(t, long("Make the union tests pass.",
		message.Assistant("Dropping the second sort had no effect on the plan, because the planner adds its own. Reverting that now.", message.Call("1", "bash", `{"command":"ls -la tmp"}`)),
		message.ToolResult("1", "session.json 1.5 MiB"),
		message.Assistant("I'll look at `TestShadow_RevertedFiles` first, which tells how the two files are compared.", message.Call("2", "bash", `{"command":"ls -la src"}`)),
		message.ToolResult("2", "main.go 2 KiB"),
		message.Assistant("Sorting a union doesn't work as the issue says, and a refund of those rows is not possible after the merge."),
	))
	for _, want := range []string{"noted: Dropping the second sort had no effect on the plan, because the planner adds its own.", "told the user: Sorting a union doesn't work as the issue says"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "did not work") || strings.Contains(text, "RevertedFiles") {
		t.Errorf("a sentence or a name is called a failed attempt in:\n%s", text)
	}
}

func TestEmptySearchIsNotAFailure(t *testing.T) {
	for result, want := range map[string]bool{"<returncode>1</returncode>\n<output>\n</output>": true, "Exit code 1\ngrep: no such file": false} {
		c := Call{Tool: "bash", Args: []Arg{{"command", "cd src && grep -n flush store.go"}}, Answered: true, Result: result}
		c.read()
		if got := c.searchedInVain(); got != want {
			t.Errorf("%q: searchedInVain returns %v, want the opposite", result, got)
		}
	}
}

func TestSummaryQuotesObjectionOfUser(t *testing.T) {
	c := Call{Tool: "Write", Answered: true, Result: "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nreuse the helper in explain.go"}
	c.read()
	if got := c.wrong(); got != "the user refused it and said: “reuse the helper in explain.go”" {
		t.Errorf("got %q, want the user's objection", got)
	}
}

func TestLineOfTwoProposalsHasTheHigherValue(t *testing.T) {
	c := newComposer(decisionLog, NewHistory(Request{Strategy: decisionLog}), 100, func(s string) int { return len(s) / 4 })
	all := c.candidates([]Line{{Text: "[s1] `make` :: - :: failed", Value: 0.1}, {Section: 2, Text: "[s1] `make` failed", Value: 2}})
	if len(all) != 1 || all[0].Value != 2 {
		t.Errorf("%d lines, the first has the value %v; want one with the value 2", len(all), all[0].Value)
	}
}

// A question is not an answer, and an observation such as "I can see" is not an offer.
func TestUserQuestionIsNotAnAnswer(t *testing.T) {
	const link = " answered the assistant's "
	for words, want := range map[string]bool{
		"how would that look on disk": false,
		"why two of them":             false,
		"the second folder, please":   false,
		"what you propose":            true,
	} {
		offer := "Reading the cache, I can see that both rows are kept."
		if want {
			offer = "Should I keep both rows, as I can see them in the cache?"
		}
		text := write4(t, long("Explain what the cache keeps of two equal rows.", message.Assistant(offer), message.User(words), message.Assistant("On it.")))
		if strings.Contains(text, "“"+words+"” [s5]"+link) != want {
			t.Errorf("the words are an answer or not, want the opposite: %q:\n%s", words, text)
		}
	}
}

// A short question is quoted with the sentence that it is about.
func TestShortQuestionHasItsSubject(t *testing.T) {
	for text, want := range map[string]string{
		"The night is full. The supervisor approved 20 euros. Do you accept?": "The supervisor approved 20 euros. Do you accept?",
		"The night is full. Shall I book the next one, which is on the 15th?": "Shall I book the next one, which is on the 15th?",
		"Do you accept?": "Do you accept?",
	} {
		if got := proposalIn(text, "ok"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSubAgentReportBeginsWithFirstFinding(t *testing.T) {
	report := "Now I have all the information I need. Let me write a detailed report of the cache.\n\nThe cache answers 40% of the lookups in `cache/size.go`. Its limit of 512 entries is never reached."
	text := write4(t, long("Measure the cache.",
		message.Assistant("", message.Call("1", "Task", `{"description":"Measure the cache","prompt":"Measure how many lookups the cache answers."}`)),
		message.ToolResult("1", report),
		message.Assistant("Thanks."),
	))
	if !strings.Contains(text, "“Measure the cache” reported: The cache answers 40% of the lookups in `cache/size.go`.") {
		t.Errorf("the finding does not begin the report in:\n%s", text)
	}
}

// The lines of a file listing, which a terminal in a team of agents sends, are not statements.
func TestListingOfATerminalIsNotQuoted(t *testing.T) {
	terminal := message.User("exitcode: 0 (execution succeeded)\nCode output: /home/harbor\n-rw-r--r-- 1 home users 3005 Dec 19 11:29 tides.py\ndrwxr-xr-x 2 home users 5 Dec 19 14:31 charts\n-rw-r--r-- 1 home users 79 Dec 19 10:32 moorings.csv\n")
	terminal.Name = "Computer_terminal"
	tells(t, long("Find the tides.", message.Assistant("List the files."), terminal), nil, []string{"home users"})
}

// If a sentence continues after a line with a command, it is quoted with that line.
func TestSentenceAroundCommandIsWhole(t *testing.T) {
	tells(t, long("My box has no picture.", message.Assistant("Let's look at the signal of your box. On the box, please run the action:\n\n  show_signal()\n\nand send me the whole output. It has the level of the cable."), message.User("It is 40 dB.")),
		[]string{"please run the action: show_signal() and send me the whole output. It has the level"}, []string{"… and send"})
}
