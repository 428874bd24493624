package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func steps(n int) []message.Message {
	var out []message.Message
	for i := range n {
		out = append(out, command(itoa(i), "", "make part"+itoa(i), "made")...)
	}
	return out
}

// The summary precedes the last message of the user, even if it covers work on this
// message. The introduction states this order over several summaries, even after the
// message itself is summarized.
func TestSummaryStatesWhenTheFollowingMessageWasWritten(t *testing.T) {
	asked := message.User("Now deploy the exporter, please.")
	number := 1
	intro := func(previous string, msgs, visible []message.Message, after int) string {
		t.Helper()
		if previous == "" {
			number = 1
		}
		first := number
		number += len(msgs)
		return written(t, taskState, 900, Input{Previous: previous, First: first, Messages: msgs, Visible: visible, After: after, MaxTokens: 2000, Count: func(s string) int { return len(s)/4 + 1 }})
	}
	line := func(text string) string { first, _, _ := strings.Cut(text, "\n"); return first }

	first := intro("", append([]message.Message{message.User("Write the exporter."), message.Assistant("Written.")}, steps(3)...), []message.Message{asked}, 6)
	if want := "The user's message right after this block was written before [s3]; the steps from there on are work on it."; !strings.HasSuffix(line(first), want) || !strings.Contains(first, "in work: the user's message right after this block, since [s3]") {
		t.Fatalf("the first summary:\n%s\nwant text with %q", first, "in work: the user's message right after this block, since [s3]")
	}
	second := intro(first, steps(2), []message.Message{asked}, 4)
	if want := "was written before [s3]; "; !strings.Contains(line(second), want) {
		t.Fatalf("the second summary:\n%s", second)
	}
	third := intro(second, append([]message.Message{asked}, steps(2)...), []message.Message{message.User("Thanks. And the importer?")}, 0)
	if !strings.HasSuffix(line(third), " Of the user's words, [s13] was written before [s3].") || strings.Contains(third, "in work") || !strings.Contains(third, "[s13] Now deploy the exporter") {
		t.Fatalf("the third summary:\n%s\nwant text without %q and text with %q", third, "in work", "[s13] Now deploy the exporter")
	}
	fourth := intro(third, []message.Message{message.User("Thanks. And the importer?"), message.Assistant("It is next.")}, nil, 0)
	if !strings.HasSuffix(line(fourth), " Of the user's words, [s13] was written before [s3].") {
		t.Fatalf("the fourth summary:\n%s", fourth)
	}
	if plain := intro("", steps(3), []message.Message{asked}, 0); strings.Contains(line(plain), "was written before") {
		t.Errorf("the summary of earlier messages is wrong:\n%s", plain)
	}
	if harness := intro("", steps(3), []message.Message{message.User("<system-reminder>be brief</system-reminder>")}, 6); !strings.HasSuffix(line(harness), " The message right after this block was written before [s1].") || strings.Contains(harness, "in work") {
		t.Errorf("after a message of the harness:\n%s", harness)
	}
	reminder := message.User("<system-reminder>be brief</system-reminder>")
	behind := intro("", steps(3), []message.Message{reminder}, 6)
	if later := intro(behind, append([]message.Message{reminder}, steps(2)...), []message.Message{asked}, 0); strings.Contains(line(later), "Of the user's words") {
		t.Errorf("the user's words are in order, but the summary says otherwise:\n%s", later)
	}
}

// TestFailedFolderChangeIsNotPartOfCheck checks that a folder in which the shell already works is
// not part of a check. Otherwise, a summary would state the failure although the same check
// passed.
func TestFailedFolderChangeIsNotPartOfCheck(t *testing.T) {
	msgs := append([]message.Message{message.User("Make it green.")}, command("1", "", "cd src && go test ./color/... 2>&1", "Exit code: 1\n/usr/bin/bash: line 1: cd: src: No such file or directory")...)
	msgs = append(append(msgs, command("2", "", "pwd && go test ./color/... 2>&1", "Exit code: 0\n/d/omp/src\nok  \tomp/color\t0.2s")...), steps(7)...)
	text := write4(t, Input{Messages: msgs})
	if !strings.Contains(text, "passed (exit 0)") || !strings.Contains(text, "after it had failed once") || strings.Contains(text, "its last run failed") {
		t.Errorf("the check is not stated as passed after one failure:\n%s", text)
	}
	other := append(command("1", "", "cd web && go test ./color/... 2>&1", "Exit code: 1\n--- FAIL: TestRows (0.00s)\nFAIL\tomp/web/color\t0.1s"), command("2", "", "go test ./color/... 2>&1", "Exit code: 0\nok  \tomp/color\t0.2s")...)
	if text := write4(t, Input{Messages: append(append([]message.Message{message.User("Make it green.")}, other...), steps(4)...)}); !strings.Contains(text, "its last run failed") {
		t.Errorf("the same check in another folder settles the failure:\n%s", text)
	}
}

// If a later step settles a carried line, the line is dropped or marked.
func TestLaterStepsSettleCarriedLines(t *testing.T) {
	in := func(previous string, msgs []message.Message) string {
		t.Helper()
		return written(t, taskState, 900, Input{Previous: previous, Messages: msgs, MaxTokens: 2000, Count: func(s string) int { return len(s)/4 + 1 }})
	}
	msgs := append([]message.Message{message.User("Make it green."), message.Assistant("Which branch do you want it on?"), message.User("main")}, append(steps(8),
		command("1", "Let me run everything there is.", "mise run test && mise run lint 2>&1", "Exit code: 1\n--- FAIL: TestRows (0.00s)")...)...)
	first := in("", msgs)
	if strings.Contains(first, "its last run failed") || !strings.Contains(first, "the last step: Let me run everything") {
		t.Fatalf("the first summary:\n%s\nwant text without %q and text with %q", first, "its last run failed", "the last step: Let me run everything")
	}
	again := in(first, command("2", "", "ls store", "rows.go"))
	if !strings.Contains(again, "failed (exit 1): --- FAIL: TestRows") || strings.Contains(again, "the last step: Let me run everything") {
		t.Errorf("the failure is not settled, but the summary says so:\n%s", again)
	}
	for name, later := range map[string][]message.Message{
		"the same in another form": command("2", "", "mise run test && mise run lint", "Exit code: 0\n0 issues."),
		"each by itself":           append(command("2", "", "mise run lint", "Exit code: 0\n0 issues."), command("3", "", "mise run test | tail -3", "ok  \tstore\t0.1s")...),
	} {
		if text := in(first, later); strings.Contains(strings.Split(text, "## What is next")[0][strings.Index(text, "## Where things stand"):], "failed (exit 1)") || strings.Contains(text, "its last run failed") {
			t.Errorf("%s: the summary still states the settled line:\n%s", name, text)
		}
	}
}
