package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A choice that the assistant drops in the same message is not a decision. The choice that
// replaces it is a decision.
func TestDecisionsOmitChoiceDroppedInSameMessage(t *testing.T) {
	for name, c := range map[string]struct{ said, want, not string }{
		"dropped": {
			"The cleanest approach is to add a helper in the transcript package that extracts prompts. Actually, looking at the code flow, the summary package has it already. I'll keep the existing builder of pkg/summary instead of a helper of our own.",
			"existing builder", "cleanest approach",
		},
		"kept": {
			"The cleanest approach is to add a helper in the transcript package that extracts prompts. It is small.",
			"cleanest approach", "It is small",
		},
		"expected": {
			"When the theme changes and render() of pkg/theme.go is called again, it should use the new theme because the cache is gone. Wait, let me test this theory.",
			"", "it should use",
		},
	} {
		t.Run(name, func(t *testing.T) {
			msgs := []message.Message{message.User("Extract the prompts."), message.Assistant(c.said, message.Call("1", "edit_file", `{"path":"a.go","old_string":"x","new_string":"y"}`)), message.ToolResult("1", "ok")}
			got := ""
			for _, f := range NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1}).decisions() {
				got += f.Text + "\n"
			}
			if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
				t.Errorf("decisions: %s, want text with %q and text without %q", got, c.want, c.not)
			}
		})
	}
}

// If there is no room for a whole answer, the sentence after an admission stays.
func TestSentenceAfterAdmissionHasHigherValue(t *testing.T) {
	said := "The session of the parser holds 14 tokens at that point. I apologize for the confusion earlier. The `prompt()` function does not accept `stdin` and `stdout` directly. The session of the parser is closed by the caller of `run()` afterwards."
	msgs := []message.Message{message.User("Where does it read from?"), message.Assistant(said), message.User("Go on.")}
	best, value := "", 0.0
	for _, l := range NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1}).saidLines(0) {
		if l.Value > value {
			best, value = l.Text, l.Value
		}
	}
	if !strings.Contains(best, "does not accept") {
		t.Errorf("the best line is %q, want text with %q", best, "does not accept")
	}
}
