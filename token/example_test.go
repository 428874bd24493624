package token_test

import (
	"context"
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

func ExampleForModel() {
	c, err := token.ForModel("gpt-4o")
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Count("Context windows overflow sooner or later."))
	// Output: 7
}

func ExampleEstimator_Breakdown() {
	e, err := token.NewEstimator("gpt-4o", nil, nil)
	if err != nil {
		panic(err)
	}
	b, err := e.Breakdown(context.Background(), []message.Message{
		message.System("Be brief."),
		message.User("What is in go.mod?"),
		message.Assistant("", message.Call("1", "read", `{"path":"go.mod"}`)),
		message.ToolResult("1", "module example.com/hello"),
	}, nil, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(b.System, b.Messages, b.Total(), b.ByRole, b.ByTool)
	// Output: 7 36 43 map[assistant:17 tool:9 user:10] map[read:15]
}

func ExampleCalibrator() {
	c := token.NewCalibrator("claude-sonnet-4") // the tokenizer of this model is not published
	request, counted := token.RequestID(nil, nil), token.Mix{Code: 10_000}
	fmt.Println(c.Estimate(counted))
	c.Sent(request, counted)
	c.Observe(request, 12_000) // the count billed by the provider
	fmt.Println(c.Estimate(counted))
	// Output:
	// {10000 12500 1}
	// {11000 14300 1.1}
}
