package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// After the caller changed the history, the numbers continue. The summary must not say that [s12]
// is its 12th message.
func TestIntroductionStatesTheFirstNumber(t *testing.T) {
	work := func(what string) []message.Message {
		return []message.Message{
			message.User("Please " + what + " the parser."),
			message.Assistant("", message.Call("1", "bash", `{"command":"`+what+` parser.go"}`)),
			message.ToolResult("1", "1 file changed: "+what),
			message.Assistant(strings.Repeat("The parser is next, as planned. ", 30)),
		}
	}
	for first, want := range map[int]string{0: "; [s12] is the 12th message of that part", 63: "; [s63] is the first message of that part"} {
		text := write4(t, Input{Messages: work("sort"), First: first})
		next := write4(t, Input{Messages: work("format"), Previous: text})
		for _, text := range []string{text, next} {
			if strings.Count(text, want) != 1 || strings.Count(text, "of that part") != 1 {
				t.Errorf("first number %d: %q is not in:\n%s", first, want, text)
			}
		}
	}
}
