package sdktest

import (
	"context"
	"encoding/json"
	"slices"

	"google.golang.org/genai"
)

type gemini struct {
	mode
	client   *genai.Client
	contents []*genai.Content
	calls    []call
}

func newGenAI(at place) *genai.Client {
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: at.client, HTTPOptions: genai.HTTPOptions{BaseURL: at.url},
	})
	if err != nil {
		panic(err)
	}
	return client
}

func openGenAI(at place) agent { return &gemini{client: newGenAI(at)} }

func (a *gemini) fork(at place) agent {
	b := *a
	b.client, b.contents = newGenAI(at), slices.Clone(a.contents)
	return &b
}

func (a *gemini) user(text string) {
	a.contents = append(a.contents, genai.NewContentFromText(text, genai.RoleUser))
}

func (a *gemini) say(ctx context.Context, results []string) (calls []call, text string, err error) {
	var parts []*genai.Part
	for i, res := range results {
		p := genai.NewPartFromFunctionResponse(a.calls[i].name, map[string]any{"output": res})
		p.FunctionResponse.ID = a.calls[i].id
		parts = append(parts, p)
	}
	if parts != nil {
		a.contents = append(a.contents, genai.NewContentFromParts(parts, genai.RoleUser))
	}
	answer, err := a.ask(ctx)
	if err != nil {
		return nil, "", err
	}
	a.contents = append(a.contents, answer)
	for _, p := range answer.Parts {
		switch {
		case p.FunctionCall != nil:
			args, _ := json.Marshal(p.FunctionCall.Args)
			calls = append(calls, call{p.FunctionCall.ID, p.FunctionCall.Name, string(args)})
		case !p.Thought:
			text += p.Text
		}
	}
	a.calls = calls
	return calls, text, nil
}

func (a *gemini) ask(ctx context.Context) (*genai.Content, error) {
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("You read files.", genai.RoleUser),
		Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read"}}}},
	}
	if !a.stream {
		resp, err := a.client.Models.GenerateContent(ctx, a.model, a.contents, config)
		if err != nil {
			return nil, err
		}
		return resp.Candidates[0].Content, nil
	}
	answer := &genai.Content{Role: genai.RoleModel}
	for resp, err := range a.client.Models.GenerateContentStream(ctx, a.model, a.contents, config) {
		if err != nil {
			return nil, err
		}
		answer.Parts = append(answer.Parts, resp.Candidates[0].Content.Parts...)
	}
	return answer, nil
}
