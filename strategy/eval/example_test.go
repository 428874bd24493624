package eval_test

import (
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/eval"
)

// FactsOf returns the facts that a summary of a session must state.
func ExampleFactsOf() {
	facts := eval.FactsOf([]message.Message{
		message.User("Make the tests pass."),
		message.Assistant("", message.Call("c1", "bash", `{"command":"go test ./..."}`)),
		message.ToolResult("c1", "FAIL example.com/app 0.1s\n\nexit status 1"),
	})
	fmt.Println(facts.User)
	fmt.Printf("%d of a summary that says nothing\n", len(facts.Misses("")))
	// Output:
	// [Make the tests pass.]
	// 2 of a summary that says nothing
}
