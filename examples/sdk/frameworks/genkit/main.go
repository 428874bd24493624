// Command genkit is an agent on github.com/firebase/genkit/go.
package main

import (
	"context"
	"fmt"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := transport.WithSession(context.Background(), "genkit")
	m := scripted.Must(compact.New(ctx, compact.Config{MaxContextTokens: 16_000}))
	defer m.Close(ctx)
	base, key := scripted.Model("OPENAI_API_KEY", "https://api.openai.com", "/v1")
	provider := &openai.OpenAI{APIKey: key, Opts: []option.RequestOption{option.WithBaseURL(base), option.WithMiddleware(transport.Middleware(m, transport.Recall()))}}
	g := genkit.Init(ctx, genkit.WithPlugins(provider))
	read := genkit.DefineTool(g, "read", "reads a file", func(_ *ai.ToolContext, in map[string]any) (string, error) { return scripted.Read(fmt.Sprint(in)), nil })
	answer := scripted.Must(genkit.Generate(ctx, g, ai.WithModelName("openai/gpt-4o"), ai.WithPrompt("Read 30 files."), ai.WithTools(read), ai.WithMaxTurns(100)))
	fmt.Print(answer.Text())
}
