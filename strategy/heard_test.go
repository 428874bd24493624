package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// TestWrongReportComesBeforeItsCorrection: the log has a wrong report with its correction after it.
// Under "Where things stand", the report alone would look like the state of the work.
func TestWrongReportComesBeforeItsCorrection(t *testing.T) {
	msgs := []message.Message{
		message.User("Move the sessions to tokens."),
		message.Assistant("", message.Call("1", "task", `{"description":"Move the tokens","prompt":"Write src/token.ts"}`)), message.ToolResult("1", "Wrote src/token.ts with HS256. All 41 tests pass."),
		message.Assistant("The report was wrong: 3 tests fail, in test/login.test.ts."),
		message.User("Then mend them."),
		message.Assistant("", message.Call("2", "bash", `{"command":"npm test"}`)), message.ToolResult("2", strings.Repeat("PASS src/a.test.ts\n", 200)+"Tests: 41 passed, 41 total"),
	}
	text := write4(t, Input{Messages: append(msgs, steps(4)...)})
	report, correction := strings.Index(text, "reported: Wrote src/token.ts"), strings.Index(text, "The report was wrong")
	stand := strings.Index(text, "## "+headingStanding)
	if report < 0 || correction < report || stand < correction {
		t.Errorf("report at %d, correction at %d, state at %d ; want this order in:\n%s", report, correction, stand, text)
	}
}

// TestMessageBeforeAQuestionIsNoAnswerToIt: the user's message after the block can be older than
// the last question. If the summary called it the next message, it would look like an answer.
func TestMessageBeforeAQuestionIsNoAnswerToIt(t *testing.T) {
	msgs := []message.Message{message.User("Correct the cost of June."), message.Assistant("", message.Call("1", "sheet", `{"range":"C6"}`)), message.ToolResult("1", strings.Repeat("426 in June and 431 in July\n", 80)),
		message.Assistant("The forecast is 426 now. Do you want a chart, too?")}
	visible := []message.Message{message.User("Leave it then, and put the old rate back.")}
	const follows = "whose next message follows this block"
	for after, want := range map[int]bool{0: true, 3: false} {
		text := write4(t, Input{Messages: msgs, Visible: visible, First: 1, After: after})
		if strings.Contains(text, follows) != want || !strings.Contains(text, "Do you want a chart, too?") {
			t.Errorf("after %d: the question is answered: %v, want %v:\n%s", after, !want, want, text)
		}
	}
}

func TestReplyIsBeforeTheNextMessageOfTheUser(t *testing.T) {
	h := NewHistory(Request{Strategy: taskState, First: 1, Messages: []message.Message{
		message.User("Raise the limit."), message.Assistant("At most to 30, says the owner of the database."),
		message.Assistant("", message.Call("1", "bash", `{"command":"cat limits"}`)), message.ToolResult("1", "40"), // it went on without a message of the user
		message.User("Write the report, please."), message.Assistant("Here is the report."),
	}})
	for step, want := range map[int]string{1: ", replied to in [s2]", 5: ", replied to in [s6]"} {
		if got := h.repliedTo(step); got != want {
			t.Errorf("message %d: %q, want %q", step, got, want)
		}
	}
}
