// Command openai-agents-go is an agent on github.com/nlpodyssey/openai-agents-go.
package main

import (
	"context"
	"fmt"

	"github.com/nlpodyssey/openai-agents-go/agents"
	"github.com/nlpodyssey/openai-agents-go/modelsettings"
	"github.com/openai/openai-go/v2/option"
	"github.com/openai/openai-go/v2/packages/param"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

type file struct{ N int }

func main() {
	ctx := transport.WithSession(context.Background(), "openai-agents-go") // the requests of a run use its context
	m := scripted.Must(compact.New(ctx, compact.Config{MaxContextTokens: 16_000}))
	defer m.Close(ctx)
	base, key := scripted.Model("OPENAI_API_KEY", "https://api.openai.com", "/v1")
	client := agents.NewOpenaiClient(param.NewOpt(base), param.NewOpt(key), option.WithMiddleware(transport.Middleware(m, transport.Recall())))
	read := agents.NewFunctionTool("read", "reads a file", func(_ context.Context, in file) (string, error) {
		return scripted.Read(fmt.Sprint(in.N)), nil
	})
	reader := agents.New("reader").WithModel("gpt-5").WithTools(read)
	// after a handoff, another agent's settings apply
	reader.ModelSettings = modelsettings.ModelSettings{ExtraHeaders: map[string]string{"X-Compact-Agent": reader.Name}}
	provider := agents.NewOpenAIProvider(agents.OpenAIProviderParams{OpenaiClient: &client})
	r := agents.Runner{Config: agents.RunConfig{MaxTurns: 100, TracingDisabled: true, ModelProvider: provider}}
	fmt.Print(scripted.Must(r.Run(ctx, reader, "Read 30 files.")).FinalOutput)
}
