// Command fantasy is an agent on charm.land/fantasy.
package main

import (
	"context"
	"fmt"
	"net/http"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := transport.WithSession(context.Background(), "fantasy") // PrepareStep may return another context for each step
	m := scripted.Must(compact.New(ctx, compact.Config{MaxContextTokens: 16_000}))
	defer m.Close(ctx)
	base, key := scripted.Model("OPENAI_API_KEY", "https://api.openai.com", "/v1")
	provider := scripted.Must(openai.New(openai.WithAPIKey(key), openai.WithBaseURL(base), openai.WithHTTPClient(&http.Client{Transport: transport.New(m, transport.Recall())})))
	read := fantasy.NewAgentTool("read", "reads a file", func(_ context.Context, in struct{ N int }, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
		return fantasy.NewTextResponse(scripted.Read(fmt.Sprint(in.N))), nil
	})
	agent := fantasy.NewAgent(scripted.Must(provider.LanguageModel(ctx, "gpt-4o")), fantasy.WithTools(read))
	fmt.Print(scripted.Must(agent.Generate(ctx, fantasy.AgentCall{Prompt: "Read 30 files."})).Response.Content.Text())
}
