// Command genai is an agent on google.golang.org/genai.
package main

import (
	"context"
	"fmt"
	"net/http"

	"google.golang.org/genai"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := transport.WithSession(context.Background(), "genai")
	m, err := compact.New(ctx, compact.Config{MaxContextTokens: 16_000})
	scripted.Check(err)
	defer m.Close(ctx)
	base, key := scripted.Model("GEMINI_API_KEY", "https://generativelanguage.googleapis.com", "")
	client, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: key, HTTPOptions: genai.HTTPOptions{BaseURL: base}, HTTPClient: &http.Client{Transport: transport.New(m, transport.Recall())}})
	scripted.Check(err)
	contents, tools := []*genai.Content(nil), &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read"}}}}}
	for next := []*genai.Part{genai.NewPartFromText("Read 30 files.")}; next != nil; {
		contents = append(contents, genai.NewContentFromParts(next, genai.RoleUser))
		answer, err := client.Models.GenerateContent(ctx, "gemini-2.5-pro", contents, tools)
		scripted.Check(err)
		contents, next = append(contents, answer.Candidates[0].Content), nil
		fmt.Print(answer.Text())
		for _, c := range answer.FunctionCalls() {
			next = append(next, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: c.ID, Name: c.Name, Response: map[string]any{"output": scripted.Read(fmt.Sprint(c.Args))}}})
		}
	}
}
