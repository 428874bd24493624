package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A prompt as large as the window fits. A failed call sent nothing, and a call without a
// window exceeds none.
func TestCallsAboveTheWindowAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		calls []AccountCall
		want  string
	}{
		"within":         {[]AccountCall{{Window: 10, Sent: 9}, {Window: 10, Sent: 10}}, "Every prompt was within the window"},
		"above":          {[]AccountCall{{Window: 10, Sent: 10}, {Window: 10, Sent: 11}}, "1 call sent more than the window holds"},
		"failed":         {[]AccountCall{{Window: 10, Sent: 11, Failed: "X"}}, "Every prompt was within the window"},
		"without window": {[]AccountCall{{Sent: 11}}, "Every prompt was within the window"},
		"no call":        {nil, ""},
	} {
		a := &Account{Calls: c.calls}
		sure := append(a.Sure(), "")
		if got := sure[max(len(sure)-2, 0)]; got != c.want {
			t.Errorf("%s: %q, want %q", name, sure, c.want)
		}
	}
}

// The sentence on edits between steps covers each of them, and the messages that the
// archive lacks.
func TestEditsBetweenStepsAreAddedUp(t *testing.T) {
	a := &Account{}
	if got := a.BetweenSteps(); got != "" {
		t.Errorf("without edits: %q", got)
	}
	a.Between = []AccountEdit{
		{Before: 5000, After: 2000, Gone: []GoneLine{{Is: "truncated"}, {Is: "masked"}}, Missing: 1},
		{Before: 2000, After: 1500, Gone: []GoneLine{{Is: "truncated"}}},
	}
	if got, want := a.BetweenSteps(), "4 messages: 2 truncated, 1 masked; 2 calls, 3,500 tokens less"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The headline counts the calls that did not fail, and names savings only if there are any.
func TestHeadlineOfAnAccount(t *testing.T) {
	calls := []AccountCall{{In: 3000, Sent: 1000}, {In: 1000, Sent: 1000}, {In: 9000, Sent: 9000, Failed: "X"}}
	for want, a := range map[string]*Account{
		"2 calls sent 2,000 tokens in place of 4,000 (50 %).":                                    {Calls: calls},
		"2 calls sent 2,000 tokens in place of 4,000 (50 %), for about $1.00 in place of $2.00.": {Calls: calls, Money: AccountMoney{Priced: true, Sent: 1, Raw: 2}},
		"1 call sent 1,000 tokens.": {Calls: calls[1:], Money: AccountMoney{Priced: true, Sent: 2, Raw: 1}},
		"2 calls sent 2,000 tokens in place of 4,000 (50 %), for about $0.0100 in place of $0.0200.": {Calls: calls, Money: AccountMoney{Priced: true, Sent: 0.01, Raw: 0.02}},
	} {
		if got := a.First(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The title of a mark says what the call did: it failed, or its step reduced the history. A
// step that the archive lacks has only its number.
func TestMarksOfCallsSayWhatHappened(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	a := &Account{
		Calls: []AccountCall{{At: at, Sent: 1200, Failed: "Budget", Step: 2}, {At: at, Sent: 900, Step: 2}, {At: at, Sent: 1500, Step: 3}},
		Steps: []AccountStep{{Step: 1}, {Step: 2, Stages: []string{"mask", "drop"}, Before: 5000, After: 900, Gone: make([]GoneLine, 2), Missing: 1, Reason: "threshold"}},
	}
	for i, want := range []string{
		"call 1, " + when(at) + ": failed (Budget), 1,200 tokens",
		"call 2, " + when(at) + ": step 2, mask, drop, 5,000 → 900 tokens, 3 messages (" + why("threshold") + ")",
		"call 3, " + when(at) + ": step 3, 1,500 tokens",
	} {
		if got := a.sentence(i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A step names the tools, or the roles, with the most removed tokens.
func TestStepNamesItsLargestKinds(t *testing.T) {
	s := &AccountStep{Gone: []GoneLine{
		{Tool: "bash", Tokens: 10}, {Tool: "read", Tokens: 700}, {Tool: "read", Tokens: 800}, {Role: "user", Tokens: 50}, {Tool: "grep", Tokens: 9}, {Role: "assistant", Tool: "edit", Tokens: 8},
	}}
	if got, want := s.Most(), "read (1,500 tokens in 2 messages), user (50 tokens in 1 message), bash (10 tokens in 1 message), grep (9 tokens in 1 message)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := s.What(); !strings.HasPrefix(got, "6 messages") {
		t.Errorf("%q", got)
	}
}

// The author of a summary is its strategy, its backend and its model, if there is one.
func TestAuthorOfASummary(t *testing.T) {
	for want, s := range map[string]policy.SummaryInfo{
		"brief by openai (small-2)": {Strategy: "brief", Backend: "openai", Model: "small-2"},
		"task_state by extractive":  {Strategy: "task_state", Backend: "extractive"},
	} {
		if got := by(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A result is of the tool of its call. If no call is known, its own name counts.
func TestToolOfAnArchivedResult(t *testing.T) {
	for want, call := range map[string]string{"bash": "1", "grep": "2"} {
		m := archivedLine{Message: message.Message{Role: message.RoleTool, Parts: []message.Part{{Kind: message.KindToolResult, CallID: call, Name: "grep"}}}}
		if got := m.tool("f", map[answer]string{{"f", "1"}: "bash"}); got != want {
			t.Errorf("the tool is %q, want %q", got, want)
		}
	}
}
