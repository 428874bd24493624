// Command trpc-agent-go is an agent on trpc.group/trpc-go/trpc-agent-go.
package main

import (
	"context"
	"fmt"

	"trpc.group/trpc-go/trpc-agent-go/agent/llmagent"
	"trpc.group/trpc-go/trpc-agent-go/model"
	"trpc.group/trpc-go/trpc-agent-go/model/openai"
	"trpc.group/trpc-go/trpc-agent-go/runner"
	"trpc.group/trpc-go/trpc-agent-go/tool"
	"trpc.group/trpc-go/trpc-agent-go/tool/function"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := context.Background()
	m := scripted.Must(compact.New(ctx, compact.Config{MaxContextTokens: 16_000}))
	defer m.Close(ctx)
	base, key := scripted.Model("OPENAI_API_KEY", "https://api.openai.com", "/v1")
	llm := openai.New("gpt-4o", openai.WithAPIKey(key), openai.WithBaseURL(base), openai.WithHTTPClientOptions(model.WithHTTPClientTransport(transport.New(m, transport.Recall()))))
	read := function.NewFunctionTool(func(_ context.Context, in map[string]any) (string, error) { return scripted.Read(fmt.Sprint(in)), nil }, function.WithName("read"))
	reader := llmagent.New("reader", llmagent.WithModel(llm), llmagent.WithTools([]tool.Tool{read}), llmagent.WithModelCallbacks(model.NewCallbacks().RegisterBeforeModel(named)))
	r := runner.NewRunner("app", reader)
	defer r.Close()
	for e := range scripted.Must(r.Run(ctx, "user", "trpc-agent-go", model.NewUserMessage("Read 30 files."))) {
		if e.IsFinalResponse() && len(e.Choices) > 0 {
			fmt.Print(e.Choices[0].Message.Content)
		}
	}
}
