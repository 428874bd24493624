package token_test

import (
	"fmt"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

func estimator(t testing.TB, model string) *token.Estimator {
	t.Helper()
	e, err := token.NewEstimator(model, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func named(name, text string) message.Message {
	m := message.System(text)
	m.Name = name
	return m
}

// request returns the cost of a request: messages, tools and the primer of the
// reply.
func request(e *token.Estimator, msgs []message.Message, tools string) int {
	return e.Messages(msgs) + e.Tools([]byte(tools)) + e.Reply()
}

func TestEstimatorMatchesTheCookbooksMessageCounts(t *testing.T) {
	msgs := []message.Message{
		message.System("You are a helpful, pattern-following assistant that translates corporate jargon into plain English."),
		named("example_user", "New synergies will help drive top-line growth."),
		named("example_assistant", "Things working well together will increase revenue."),
		named("example_user", "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."),
		named("example_assistant", "Let's talk later when we're less busy about how to do better."),
		message.User("This late pivot means we don't have time to boil the ocean for the client deliverable."),
	}
	for model, want := range map[string]int{"gpt-3.5-turbo": 129, "gpt-4-0613": 129, "gpt-4": 129, "gpt-4o": 124, "gpt-4o-mini": 124} {
		if got := request(estimator(t, model), msgs, ""); got != want {
			t.Errorf("%s: %d tokens, the provider counts %d", model, got, want)
		}
	}
}

const weatherTool = `{
	"name": "get_current_weather",
	"description": "Get the current weather in a given location",
	"%s": {
		"type": "object",
		"properties": {
			"location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
			"unit": {"type": "string", "description": "The unit of temperature to return", "enum": ["celsius", "fahrenheit"]}
		},
		"required": ["location"]
	}
}`

// weatherWires returns the cookbook's tool in the format of each API.
func weatherWires() map[string]string {
	return map[string]string{
		"chat":      fmt.Sprintf(`[{"type":"function","function":`+weatherTool+`}]`, "parameters"),
		"responses": fmt.Sprintf(`[`+weatherTool+`]`, "parameters"),
		"anthropic": fmt.Sprintf(`[`+weatherTool+`]`, "input_schema"),
		"gemini":    fmt.Sprintf(`[{"functionDeclarations":[`+weatherTool+`]}]`, "parameters"),
	}
}

func TestEstimatorMatchesTheCookbooksFunctionCounts(t *testing.T) {
	msgs := []message.Message{
		message.System("You are a helpful assistant that can answer to questions about the weather."),
		message.User("What's the weather like in San Francisco?"),
	}
	for model, want := range map[string]int{"gpt-3.5-turbo": 105, "gpt-4": 105, "gpt-4o": 101, "gpt-4o-mini": 101} {
		for wire, tools := range weatherWires() {
			if got := request(estimator(t, model), msgs, tools); got != want {
				t.Errorf("%s, %s wire: %d tokens, the provider counts %d", model, wire, got, want)
			}
		}
	}
}
