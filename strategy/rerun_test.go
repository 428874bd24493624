package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// After each check of a command with several checks has passed, a summary no longer
// states the failure of the command.
func TestSummaryStatesLatestStateOfSeveralChecks(t *testing.T) {
	run := func(id, cmd, result string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "bash", `{"command":"`+cmd+`"}`)), message.ToolResult(id, result)}
	}
	msgs := append([]message.Message{message.User("Make it green.")}, run("1", "mise run test && mise run lint 2>&1", "Exit code: 1\nFAIL")...)
	msgs = append(msgs, run("2", "mise run lint", "Exit code: 0\n0 issues.")...)
	told := func(msgs []message.Message) string {
		out := ""
		for _, l := range NewHistory(Request{Messages: msgs, First: 1}).checkLines(0) {
			out += l.Text + "\n"
		}
		return out
	}
	if text := told(msgs); !strings.Contains(text, "failed (exit 1): FAIL [s2]") || !strings.Contains(text, "0 issues. [s4]") {
		t.Errorf("after a pass of one of two checks, want the failure and the pass:\n%s", text)
	}
	msgs = append(msgs, run("3", "mise run test | tail -3", "ok  \tstore\t0.1s")...)
	if text := told(msgs); strings.Contains(text, "failed (exit") || !strings.Contains(text, "after runs with other checks had failed once [s6]") {
		t.Errorf("after a pass of both checks, want no failure:\n%s", text)
	}
}

func TestRepeatedCheckOfPreviousSummaryAppearsOnce(t *testing.T) {
	long := message.User(strings.Repeat("Go on with the rows of the store. ", 30))
	count := func(s string) int { return len(s) / 4 }
	messages := func(cmd, result string) []message.Message {
		return append([]message.Message{long}, message.Assistant("", message.Call("1", "bash", `{"command":"`+cmd+`"}`)), message.ToolResult("1", result))
	}
	first := written(t, taskState, 1500, Input{Messages: messages("go test ./store 2>&1", "ok  \tstore\t0.1s"), Count: count})
	if !strings.Contains(first, "`go test ./store 2>&1` passed") {
		t.Fatalf("the first summary states the check in another form:\n%s", first)
	}
	for cmd, want := range map[string]bool{"go test ./store 2>&1 | tail -5": false, "go test ./cache 2>&1": true} {
		next := written(t, taskState, 1500, Input{Previous: first, Messages: messages(cmd, "ok  \tstore\t0.2s"), Count: count})
		if strings.Contains(next, "`go test ./store 2>&1` passed") != want || !strings.Contains(next, "`"+cmd+"` passed") {
			t.Errorf("after %s:\n%s", cmd, next)
		}
	}
}
