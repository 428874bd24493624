package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/strategy/openai"
)

// Any server with OpenAI's chat completions API can write summaries.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"## Summary\n- hello was said"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	client, err := openai.New(openai.Config{Model: "local", BaseURL: server.URL + "/v1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	brief, err := strategy.Lookup("brief")
	if err != nil {
		fmt.Println(err)
		return
	}
	draft, err := client.Summarize(context.Background(), strategy.Request{
		Strategy: brief, Messages: []message.Message{message.User("hello")}, First: 1, MaxTokens: 200,
		Count: func(text string) int { return len(strings.Fields(text)) },
	})
	fmt.Println(draft.Text, err)
	// Output:
	// ## Summary
	// - hello was said <nil>
}
