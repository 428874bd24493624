package main

import (
	"context"
	"testing"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/agentcompact/compact/internal/agentloop"
	_ "github.com/agentcompact/compact/internal/testkey"
)

// With COMPACT_SOAK the loops are long.
func TestLoop(t *testing.T) {
	agentloop.Test(t, agentloop.SDK{Name: "google.golang.org/adk/v2", Models: [2]string{"gemini-2.5-pro", "gemini-2.5-flash"}, Open: openADK, Streams: true})
}

func TestExample(t *testing.T) { agentloop.Example(t, main) }

// args are the arguments of the tool.
type args struct {
	Name string `json:"name"`
}

type adkAgent struct {
	at       *agentloop.Endpoint
	sessions session.Service
}

func openADK(ctx context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	a := &adkAgent{at, session.InMemoryService()}
	_, err := a.sessions.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "adk"})
	return a, err
}

func (a *adkAgent) get(ctx context.Context) (session.Session, error) {
	got, err := a.sessions.Get(ctx, &session.GetRequest{AppName: "app", UserID: "user", SessionID: "adk"})
	if err != nil {
		return nil, err
	}
	return got.Session, nil
}

func (a *adkAgent) Fork(ctx context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	mine, err := a.get(ctx)
	if err != nil {
		return nil, err
	}
	opened, err := openADK(ctx, at)
	if err != nil {
		return nil, err
	}
	fork := opened.(*adkAgent)
	theirs, err := fork.get(ctx)
	if err != nil {
		return nil, err
	}
	for e := range mine.Events().All() {
		if err := fork.sessions.AppendEvent(ctx, theirs, e); err != nil {
			return nil, err
		}
	}
	return fork, nil
}

func (a *adkAgent) runner(ctx context.Context, name string) (*runner.Runner, error) {
	m, err := gemini.NewModel(ctx, name, &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: a.at.Client, HTTPOptions: genai.HTTPOptions{BaseURL: a.at.URL},
	})
	if err != nil {
		return nil, err
	}
	read, err := functiontool.New(functiontool.Config{Name: "read", Description: "reads a file"}, func(_ agent.Context, in args) (map[string]any, error) {
		return map[string]any{"output": a.at.Read(in.Name)}, nil
	})
	if err != nil {
		return nil, err
	}
	reader, err := llmagent.New(llmagent.Config{Name: "reader", Model: m, Instruction: "You read files.", Tools: []tool.Tool{read}})
	if err != nil {
		return nil, err
	}
	return runner.New(runner.Config{AppName: "app", Agent: reader, SessionService: a.sessions})
}

func (a *adkAgent) Run(ctx context.Context, t agentloop.Turn) (text string, err error) {
	r, err := a.runner(ctx, t.Model)
	if err != nil {
		return "", err
	}
	mode := agent.RunConfig{StreamingMode: agent.StreamingModeNone}
	if t.Stream {
		mode.StreamingMode = agent.StreamingModeSSE
	}
	for e, err := range r.Run(ctx, "user", "adk", genai.NewContentFromText(t.Say, genai.RoleUser), mode) {
		if err != nil {
			return "", err
		}
		if e.IsFinalResponse() && !e.Partial && e.Content != nil {
			text = said(e.Content.Parts)
		}
	}
	return text, nil
}

func said(parts []*genai.Part) (text string) {
	for _, p := range parts {
		if !p.Thought {
			text += p.Text
		}
	}
	return text
}
