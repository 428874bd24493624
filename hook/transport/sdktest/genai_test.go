package sdktest

import (
	"context"

	"google.golang.org/genai"
)

type gemini struct {
	client   *genai.Client
	stream   bool
	contents []*genai.Content
	calls    []call
}

func openGenAI(r *rig, stream bool) agent {
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: r.client, HTTPOptions: genai.HTTPOptions{BaseURL: r.url},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return &gemini{client: client, stream: stream, contents: []*genai.Content{genai.NewContentFromText("Read them all.", genai.RoleUser)}}
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
			calls = append(calls, call{p.FunctionCall.ID, p.FunctionCall.Name})
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
	const model = "gemini-2.5-pro"
	if !a.stream {
		resp, err := a.client.Models.GenerateContent(ctx, model, a.contents, config)
		if err != nil {
			return nil, err
		}
		return resp.Candidates[0].Content, nil
	}
	answer := &genai.Content{Role: genai.RoleModel}
	for resp, err := range a.client.Models.GenerateContentStream(ctx, model, a.contents, config) {
		if err != nil {
			return nil, err
		}
		answer.Parts = append(answer.Parts, resp.Candidates[0].Content.Parts...)
	}
	return answer, nil
}
