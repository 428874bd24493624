// Command eino is an agent on github.com/cloudwego/eino.
package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := context.Background()
	m := scripted.Must(compact.New(ctx, compact.Config{MaxContextTokens: 16_000}))
	defer m.Close(ctx)
	base, key := scripted.Model("OPENAI_API_KEY", "https://api.openai.com", "/v1")
	llm := scripted.Must(openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: base, Model: "gpt-4o", HTTPClient: &http.Client{Transport: transport.New(m, transport.Recall())}}))
	read := scripted.Must(utils.InferTool("read", "reads a file", func(_ context.Context, in map[string]any) (string, error) { return scripted.Read(fmt.Sprint(in)), nil }))
	config := &adk.ChatModelAgentConfig{Name: "reader", Description: "reads files", Model: llm, MaxIterations: 100, Handlers: []adk.ChatModelAgentMiddleware{named{&adk.BaseChatModelAgentMiddleware{}}}}
	config.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}}}
	r := adk.NewRunner(ctx, adk.RunnerConfig{Agent: scripted.Must(adk.NewChatModelAgent(ctx, config))})
	events := r.Query(ctx, "Read 30 files.", adk.WithSessionValues(map[string]any{"session": "eino"}))
	for e, more := events.Next(); more; e, more = events.Next() {
		scripted.Check(e.Err)
		if said := scripted.Must(e.Output.MessageOutput.GetMessage()); len(said.ToolCalls) == 0 && said.ToolCallID == "" {
			fmt.Print(said.Content)
		}
	}
}
