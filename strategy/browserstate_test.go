package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// The result of an action in a browser and the state after it, which a loop sends in the user's
// role, are no words of the user. They are the result of a call whose own result is empty.
func TestStateOfABrowserIsNoRequest(t *testing.T) {
	tells(t, long("Find the cheapest flight. Do not log in.",
		message.Assistant("", message.Call("1", "AgentOutput", `{"action":[{"click_element":{"index":5}}]}`)),
		message.ToolResult("1", ""),
		message.User("Action error: Element with index 5 does not exist\n[Current state starts here]\nCurrent url: https://flights.example.com\n[7]<button>Search</button>"),
		message.Assistant("", message.Call("2", "AgentOutput", `{"action":[{"extract_content":{"goal":"prices"}}]}`)),
		message.ToolResult("2", ""),
		message.User("Action result: Extracted: Nordair 142 EUR\n[Current state starts here]\nCurrent url: https://flights.example.com/r"),
		message.Assistant("Nordair is the cheapest."),
	), []string{
		"`AgentOutput` 5 failed: Error: Element with index 5 does not exist",
		"Extracted: Nordair 142 EUR",
		"- Find the cheapest flight.",
	}, []string{"[s5]", "[s8] Action", "newest request"})
}

// A heading before an error does not hide it.
func TestErrorBelowAHeadingIsAFailure(t *testing.T) {
	for _, result := range []string{"### Result\nError: Ref e44 not found in the current page snapshot.", "### Error\nRef e44 not found in the current page snapshot."} {
		tells(t, long("Order a mug.", ranCalls([3]string{"browser_click", `{"element":"Place order button","ref":"e44"}`, result})...),
			[]string{"`browser_click` Place order button failed (ref=e44): Error: Ref e44 not found"}, []string{"[done]", "###"})
	}
}
