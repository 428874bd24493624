// Command openai-go is an agent on chat completions of github.com/openai/openai-go.
package main

import (
	"context"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := transport.WithSession(context.Background(), "openai-go")
	m, err := compact.New(ctx, compact.Config{MaxContextTokens: 16_000})
	scripted.Check(err)
	defer m.Close(ctx)
	base, key := scripted.Model("OPENAI_API_KEY", "https://api.openai.com", "/v1/")
	client := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey(key), option.WithMiddleware(transport.Middleware(m, transport.Recall())))
	ask := openai.ChatCompletionNewParams{Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Read 30 files.")}}
	ask.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "read"})}
	for calls := 1; calls > 0; {
		answer, err := client.Chat.Completions.New(ctx, ask)
		scripted.Check(err)
		fmt.Print(answer.Choices[0].Message.Content)
		ask.Messages = append(ask.Messages, answer.Choices[0].Message.ToParam())
		calls = len(answer.Choices[0].Message.ToolCalls)
		for _, c := range answer.Choices[0].Message.ToolCalls {
			ask.Messages = append(ask.Messages, openai.ToolMessage(scripted.Read(c.Function.Arguments), c.ID))
		}
	}
}
