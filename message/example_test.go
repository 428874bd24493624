package message_test

import (
	"fmt"

	"github.com/agentcompact/compact/message"
)

// An assistant's message and all results of its calls are one round. Every other message
// is a round of its own.
func Example() {
	history := []message.Message{
		message.User("Is the build green?"),
		message.Assistant("", message.Call("c1", "bash", `{"command":"go build ./..."}`), message.Call("c2", "bash", `{"command":"go vet ./..."}`)),
		message.ToolResult("c1", "ok"),
		message.ToolResult("c2", "ok"),
		message.Assistant("It is."),
	}
	for _, r := range message.Rounds(history) {
		fmt.Println(r.Start, r.End, history[r.Start].Role)
	}
	// Output:
	// 0 1 user
	// 1 4 assistant
	// 4 5 assistant
}

// Editing a message changes one part of a copy.
func ExampleMessage_WithPartText() {
	was := message.ToolResult("c1", "a very long answer")
	is, err := was.WithPartText(0, "[masked]")
	fmt.Println(was.ResultText(), is.ResultText(), err)
	// Output: a very long answer [masked] <nil>
}
