// Command adk is an agent on google.golang.org/adk/v2.
package main

import (
	"context"
	"fmt"
	"net/http"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := context.Background()
	m := scripted.Must(compact.New(ctx, compact.Config{MaxContextTokens: 16_000}))
	defer m.Close(ctx)
	base, key := scripted.Model("GEMINI_API_KEY", "https://generativelanguage.googleapis.com", "")
	llm := scripted.Must(gemini.NewModel(ctx, "gemini-2.5-pro", &genai.ClientConfig{APIKey: key, HTTPOptions: genai.HTTPOptions{BaseURL: base}, HTTPClient: &http.Client{Transport: transport.New(m, transport.Recall())}}))
	read := scripted.Must(functiontool.New(functiontool.Config{Name: "read"}, func(_ agent.Context, in map[string]any) (map[string]any, error) {
		return map[string]any{"output": scripted.Read(fmt.Sprint(in))}, nil
	}))
	reader := scripted.Must(llmagent.New(llmagent.Config{Name: "reader", Model: llm, Tools: []tool.Tool{read}, BeforeModelCallbacks: []llmagent.BeforeModelCallback{named}}))
	r := scripted.Must(runner.NewInMemory("app", reader))
	for e, err := range r.Run(ctx, "user", "adk", genai.NewContentFromText("Read 30 files.", genai.RoleUser), agent.RunConfig{}) {
		scripted.Check(err)
		if e.IsFinalResponse() {
			fmt.Print(e.Content.Parts[0].Text)
		}
	}
}
