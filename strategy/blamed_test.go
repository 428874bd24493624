package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A line about a failure quotes the sentence in which the assistant names another cause.
func TestFailureLineQuotesOtherCause(t *testing.T) {
	const said = "Those are pre-existing errors in other files, not from our changes."
	failed := append([]message.Message{message.User("Drop the field.")}, command("1", "", "npx tsc --noEmit", "Exit code: 2\\na.spec.ts(3,1): error TS2339: no")...)
	failed[2] = message.ToolResult("1", "Exit code: 2\na.spec.ts(3,1): error TS2339: no")
	with := func(more ...message.Message) (stands, log string) {
		h := NewHistory(Request{Strategy: TaskState, Messages: append(failed[:3:3], more...), First: 1})
		for _, l := range h.checkLines(0) {
			stands += l.Text + "\n"
		}
		for _, l := range h.logLines(0) {
			log += l.Text + "\n"
		}
		return stands, log
	}
	const suffix = "; said later: “" + said + "” [s4]"
	passed := command("2", said, "npx jest", "Exit code: 0\nTests: 3 passed, 3 total")
	if stands, _ := with(passed...); !strings.Contains(stands, "error TS2339: no [s2]"+suffix) {
		t.Errorf("the sentence right after the failure is not quoted:\n%s", stands)
	}
	again := append(passed[:2:2], command("3", "", "npx tsc --noEmit", "Exit code: 2\nb.ts(1,1): error TS1: no")...)
	if stands, _ := with(again...); strings.Contains(stands, suffix) {
		t.Errorf("the sentence before the failure is quoted:\n%s", stands)
	}
	for text, want := range map[string]bool{
		"The error in a.spec.ts is pre-existing.":         true,
		"The errors of the linter are pre-existing.":      false,
		"Is the error in a.spec.ts pre-existing?":         false,
		"I check if the error in a.spec.ts is unrelated.": false,
	} {
		later := append(command("2", "", "npm run lint", "Exit code: 1\nb.ts: error: no"), message.Assistant(text))
		if stands, _ := with(later...); strings.Contains(stands, "error TS2339: no [s2]; said later") != want {
			t.Errorf("%q after another failure:\n%s", text, stands)
		}
	}
	deploy := append(command("2", "", "make deploy", "Exit code: 2\nno route to host"), message.Assistant("That is unrelated to our change."))
	if _, log := with(deploy...); !strings.Contains(log, "no route to host; said later: “That is unrelated to our change.” [s6]") {
		t.Errorf("the log does not quote the sentence:\n%s", log)
	}
}

// A sentence without a name from a failure's output is about the failure right before it. A
// sentence that announces a step does not count as a statement about a failure.
func TestOtherCauseFollowsFailureClosely(t *testing.T) {
	failed := append([]message.Message{message.User("Drop the field.")}, command("1", "", "npx tsc --noEmit", "Exit code: 2\na.spec.ts(3,1): error TS2339: no")...)
	excused := func(more ...message.Message) bool {
		return strings.Contains(checkText(append(failed[:3:3], more...)), "; said later")
	}
	for text, want := range map[string]bool{"I'm checking the types now, apart from unrelated errors.": false, "The errors are unrelated to the field.": true} {
		if excused(message.Assistant(text)) != want {
			t.Errorf("%q: quoted %v, want %v", text, !want, want)
		}
		var far []message.Message
		for i := range 5 {
			far = append(far, command("f"+itoa(i), "", "ls src", "a.ts")...)
		}
		if excused(append(far, message.Assistant(text))...) {
			t.Errorf("%q is quoted ten steps after the failure", text)
		}
	}
}

// checkText returns the lines about the checks of some messages.
func checkText(msgs []message.Message) string {
	out := ""
	for _, l := range NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1}).checkLines(0) {
		out += l.Text + "\n"
	}
	return out
}
