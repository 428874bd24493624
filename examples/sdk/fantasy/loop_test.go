package main

import (
	"context"
	"slices"
	"testing"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"

	"github.com/agentcompact/compact/internal/agentloop"
	_ "github.com/agentcompact/compact/internal/testkey"
)

// With COMPACT_SOAK the loops are long.
func TestLoop(t *testing.T) {
	agentloop.Test(t, agentloop.SDK{Name: "charm.land/fantasy", Models: [2]string{"gpt-4o", "gpt-4.1"}, Open: openFantasy, Streams: true})
}

func TestExample(t *testing.T) { agentloop.Example(t, main) }

// args are the arguments of the tool.
type args struct {
	Name string `json:"name"`
}

type fantasyAgent struct {
	at       *agentloop.Endpoint
	messages []fantasy.Message
}

func openFantasy(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return &fantasyAgent{at: at}, nil
}

func (a *fantasyAgent) Fork(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return &fantasyAgent{at, slices.Clone(a.messages)}, nil
}

func (a *fantasyAgent) agent(ctx context.Context, model string) (fantasy.Agent, error) {
	p, err := openai.New(openai.WithAPIKey("key"), openai.WithBaseURL(a.at.URL+"/v1"), openai.WithHTTPClient(a.at.Client))
	if err != nil {
		return nil, err
	}
	m, err := p.LanguageModel(ctx, model)
	if err != nil {
		return nil, err
	}
	read := fantasy.NewAgentTool("read", "reads a file", func(_ context.Context, in args, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
		return fantasy.NewTextResponse(a.at.Read(in.Name)), nil
	})
	return fantasy.NewAgent(m, fantasy.WithSystemPrompt("You read files."), fantasy.WithTools(read)), nil
}

func (a *fantasyAgent) Run(ctx context.Context, t agentloop.Turn) (string, error) {
	reader, err := a.agent(ctx, t.Model)
	if err != nil {
		return "", err
	}
	var res *fantasy.AgentResult
	if t.Stream {
		res, err = reader.Stream(ctx, fantasy.AgentStreamCall{Prompt: t.Say, Messages: a.messages})
	} else {
		res, err = reader.Generate(ctx, fantasy.AgentCall{Prompt: t.Say, Messages: a.messages})
	}
	if err != nil {
		return "", err
	}
	a.messages = append(a.messages, fantasy.NewUserMessage(t.Say))
	for _, s := range res.Steps {
		a.messages = append(a.messages, s.Messages...)
	}
	return res.Response.Content.Text(), nil
}
