// Command langchaingo is an agent on github.com/tmc/langchaingo.
package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

type reading struct{}

func (reading) Name() string        { return "read" }
func (reading) Description() string { return "reads a file" }
func (reading) Call(_ context.Context, input string) (string, error) {
	return scripted.Read(input), nil
}

func main() {
	ctx := transport.WithSession(context.Background(), "langchaingo")
	m := scripted.Must(compact.New(ctx, compact.Config{MaxContextTokens: 16_000}))
	defer m.Close(ctx)
	base, key := scripted.Model("OPENAI_API_KEY", "https://api.openai.com", "/v1")
	llm := scripted.Must(openai.New(openai.WithToken(key), openai.WithBaseURL(base), openai.WithModel("gpt-4o"), openai.WithHTTPClient(&http.Client{Transport: transport.New(m, transport.Recall())})))
	agent := agents.NewOpenAIFunctionsAgent(llm, []tools.Tool{reading{}})
	fmt.Print(scripted.Must(chains.Run(ctx, agents.NewExecutor(agent, agents.WithMaxIterations(100)), "Read 30 files.")))
}
