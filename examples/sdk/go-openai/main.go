// Command go-openai is an agent on github.com/sashabaranov/go-openai.
package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := transport.WithSession(context.Background(), "go-openai")
	m, err := compact.New(ctx, compact.Config{MaxContextTokens: 16_000})
	scripted.Check(err)
	defer m.Close(ctx)
	base, key := scripted.Model("OPENAI_API_KEY", "https://api.openai.com", "/v1")
	config := openai.DefaultConfig(key)
	config.BaseURL, config.HTTPClient = base, &http.Client{Transport: transport.New(m, transport.Recall())}
	client, ask := openai.NewClientWithConfig(config), openai.ChatCompletionRequest{Model: "gpt-4o", Tools: []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "read", Parameters: map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}}}}}}
	ask.Messages = []openai.ChatCompletionMessage{{Role: "user", Content: "Read 30 files."}}
	for calls := true; calls; calls = ask.Messages[len(ask.Messages)-1].Role == "tool" {
		answer, err := client.CreateChatCompletion(ctx, ask)
		scripted.Check(err)
		fmt.Print(answer.Choices[0].Message.Content)
		ask.Messages = append(ask.Messages, answer.Choices[0].Message)
		for _, c := range answer.Choices[0].Message.ToolCalls {
			ask.Messages = append(ask.Messages, openai.ChatCompletionMessage{Role: "tool", ToolCallID: c.ID, Content: scripted.Read(c.Function.Arguments)})
		}
	}
}
