// Command anthropic-sdk-go is an agent on github.com/anthropics/anthropic-sdk-go.
package main

import (
	"context"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := transport.WithSession(context.Background(), "anthropic-sdk-go")
	m, err := compact.New(ctx, compact.Config{MaxContextTokens: 16_000})
	scripted.Check(err)
	defer m.Close(ctx)
	base, key := scripted.Model("ANTHROPIC_API_KEY", "https://api.anthropic.com", "")
	client := anthropic.NewClient(option.WithBaseURL(base), option.WithAPIKey(key), option.WithMiddleware(transport.Middleware(m, transport.Recall())))
	ask := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 1000, Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read"}}}}
	for next := []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock("Read 30 files.")}; next != nil; {
		ask.Messages = append(ask.Messages, anthropic.NewUserMessage(next...))
		answer, err := client.Messages.New(ctx, ask)
		scripted.Check(err)
		ask.Messages, next = append(ask.Messages, answer.ToParam()), nil
		for _, b := range answer.Content {
			fmt.Print(b.Text)
			if b.Type == "tool_use" {
				next = append(next, anthropic.NewToolResultBlock(b.ID, scripted.Read(string(b.Input)), false))
			}
		}
	}
}
