package strategy

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// Words about open work also appear in names, in conditions and in reports.
func TestLeavesOpenIgnoresWordsInAnotherSense(t *testing.T) {
	for s, open := range map[string]bool{
		"The app shows the todo list of each user, and saves it.":                    false,
		"I'll build the todo screen with two parallel tasks for you.":                false,
		"TODO: the importer has to close the file when it fails.":                    true,
		"To do: write the changelog and tell the others about it.":                   true,
		"It shows the first branch only if the commit is not yet merged.":            false,
		"Rows that are not yet sent are kept until the queue is empty.":              true,
		"When the queue is empty, the rows are not yet written to disk.":             true,
		"I've successfully fixed the remaining tests of the importer.":               false,
		"We have now added the follow-ups of the review to the module.":              false,
		"Completed the remaining steps of the migration of the rows.":                false,
		"I've fixed the parser, but the tests of the rows still fail today.":         true,
		"I've noticed that the tests of the rows still fail on the server.":          true,
		"I've added the index; the second table needs to be renamed as well.":        true,
		"The old names are gone. The rename of the table is still outstanding here.": true,
	} {
		if got := leavesOpen(s); got != open {
			t.Errorf("%q: leavesOpen returns %v, want the opposite", s, got)
		}
	}
}

func TestItemsOfReportAreNotOpen(t *testing.T) {
	list := func(head string) string {
		return nextOf(t, message.User("Import the rows."), message.Assistant(head+"\n\n- The importer retries what remains in the queue of the rows\n"))
	}
	for head, open := range map[string]bool{"## Changes": false, "Here is what was done:": false, "## Implemented": false, "Here is what was not done:": true, "## Open points": true, "These points matter:": true} {
		if got := strings.Contains(list(head), "said to be still open: The importer retries"); got != open {
			t.Errorf("%q: an item counts as open: %v, want the opposite", head, got)
		}
	}
}

// "Now" can begin an announcement or the description of a present behavior.
func TestPresentBehaviorIsNotAnnounced(t *testing.T) {
	for s, want := range map[string]bool{
		"Now searches the main branch first, then the others": false, "Now returns nil for an empty row": false, "Now uses one query per table": false, "Let me know which table you mean": false,
		"Now I read the importer": true, "Now let me run the tests": true, "Now run the tests again": true, "Now tests for the importer": true, "Now this test": true,
	} {
		if announces(s) != want {
			t.Errorf("%q announces a step: %v", s, !want)
		}
	}
	report := message.Assistant("The search is fixed.\n\n- Now the newest rows come first in each table")
	if got := nextOf(t, message.User("Fix the search."), report, message.User("Thanks.")); strings.Contains(got, "announced") {
		t.Errorf("an item of a report is announced:\n%s", got)
	}
}

// A missing script, runner or option is not open work.
func TestNextOmitsMissingCommand(t *testing.T) {
	for _, c := range []struct {
		cmd, result string
		wrong       bool
	}{
		{"npm --prefix ui run check", "npm error Missing script: \"check\"\nnpm error To see a list of scripts, run:\nnpm error   npm run", true},
		{"python -m pytest tests", "Exit code 1\n/usr/bin/python: No module named pytest", true},
		{"python -m pytest tests", "Exit code 1\nModuleNotFoundError: No module named 'rows'", false},
		{"golangci-lint run", "Exit code 127\nbash: golangci-lint: command not found", true},
		{"cargo clippy --al", "Exit code 1\nerror: unexpected\nerror: unrecognized subcommand 'clipy'", true},
		{"make test", "Exit code 2\nmake: *** No rule to make target 'rows.o', needed by 'test'.  Stop.", false},
		{"go test ./cli", "Exit code 1\n=== RUN TestA\n  a\n  b\n  c\n  error: unknown option\n--- FAIL: TestA", false},
	} {
		msgs := append([]message.Message{message.User("Check it.")}, command("1", "", c.cmd, c.result)...)
		if got := nextOf(t, msgs...); strings.Contains(got, "its last run failed") == c.wrong {
			t.Errorf("the failure is a next step or not, want the opposite: %s:\n%s", c.cmd, got)
		}
		h := NewHistory(Request{Strategy: taskState, First: 1, Messages: append(msgs, command("2", "", "make rows", "3 passed\nTests:       3 passed, 3 total")...)})
		lines := h.checkLines(0)
		if got := slices.ContainsFunc(lines, func(l Line) bool {
			return strings.Contains(l.Text, c.cmd) && strings.HasSuffix(l.Text, "[s2]; another check passed later [s4]")
		}); got != c.wrong {
			t.Errorf("a failure is stated or not, want the opposite: %s: %+v", c.cmd, lines)
		}
	}
}

// If one agent reports several times about open work, the newest report counts.
func TestNewestReportOfOpenWorkCounts(t *testing.T) {
	says := func(name, text string) message.Message {
		m := message.Assistant(text)
		m.Name = name
		return m
	}
	tells(t, long("Find the tide of the harbor.",
		says("Leader", "We still need to find the table of the tides for the harbor."),
		says("Surfer", "Here is the table of the tides."),
		says("Leader", "The table is no longer missing. We still need to find the row of the table for Monday."),
		says("Surfer", "I look at it.")),
		[]string{"said to be still open: We still need to find the row of the table for Monday."}, []string{"still open: We still need to find the table of the tides"})
}
