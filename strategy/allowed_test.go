package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The next step about a failed check also quotes the words that excuse the failure: the user
// allows it, the assistant expects it, or the assistant says later that all tests pass.
func TestNextQuotesWhatExcusesAFailure(t *testing.T) {
	const failed, next = "Exit code: 1\n--- FAIL: TestOldExport", "its last run failed: `go test ./store`"
	for name, c := range map[string]struct{ ask, says, want string }{
		"allowed":      {"Log each write. TestOldExport may fail until 4.2, ignore it.", "Each write is logged.", "; the user said: “Log each write. TestOldExport may fail until 4.2, ignore it.” [s1] [s2]"},
		"expected":     {"Log each write.", "TestOldExport fails, which is expected.", "; said later: “TestOldExport fails, which is expected.” [s4] [s2]"},
		"passed":       {"Log each write.", "All tests pass with the new runner.", "; said later: “All tests pass with the new runner.” [s4] [s2]"},
		"another test": {"Log each write. TestNewExport may fail until 4.2.", "Each write is logged.", " [s2]"},
		"a question":   {"Log each write. TestOldExport may fail, can it?", "Each write is logged.", " [s2]"},
		"a purpose":    {"Log each write.", "I will make sure that all tests pass.", " [s2]"},
	} {
		msgs := append([]message.Message{message.User(c.ask)}, command("1", "", "go test ./store", failed)...)
		msgs = append(msgs, message.Assistant(c.says), message.User("Now write the page about it."))
		if got := nextOf(t, msgs...); !strings.Contains(got, next+c.want) {
			t.Errorf("%s: %q is not in:\n%s", name, next+c.want, got)
		}
	}
}

// A statement that all tests pass does not excuse a later failure.
func TestTestsThatPassedBeforeExcuseNothing(t *testing.T) {
	msgs := []message.Message{message.User("Log each write."), message.Assistant("All tests pass.")}
	msgs = append(msgs, command("1", "", "go test ./store", "Exit code: 1\n--- FAIL: TestOldExport")...)
	if got := nextOf(t, append(msgs, message.User("Now write the page about it."))...); strings.Contains(got, "All tests pass") || !strings.Contains(got, "its last run failed: `go test ./store`") {
		t.Errorf("the next step is:\n%s\nwant text without %q and text with %q", got, "All tests pass", "its last run failed: `go test ./store`")
	}
}

func TestReminderInAResultIsLeftOut(t *testing.T) {
	const r = "<system-reminder>be brief</system-reminder>"
	for text, want := range map[string]string{
		"":                    "",
		"a" + r + "b":         "ab",
		r + "a" + r + r + "b": "ab",
		"a" + r + "b<system-reminder>never closed": "ab<system-reminder>never closed",
		"a</system-reminder>" + r + "b":            "a</system-reminder>b",
	} {
		if got := withoutReminders(text); got != want {
			t.Errorf("withoutReminders(%q) = %q, want %q", text, got, want)
		}
	}
}
