package main

import (
	"context"
	"slices"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/agentcompact/compact/internal/agentloop"
	_ "github.com/agentcompact/compact/internal/testkey"
)

// With COMPACT_SOAK the loops are long.
func TestLoop(t *testing.T) {
	agentloop.Test(t, agentloop.SDK{Name: "cloudwego/eino", Models: [2]string{"gpt-4o", "gpt-4.1"}, Open: openEino, Streams: true})
}

func TestExample(t *testing.T) { agentloop.Example(t, main) }

// args are the arguments of the tool.
type args struct {
	Name string `json:"name"`
}

// steps is the maximum number of steps of a turn; no turn of the loop reaches it.
const steps = 1000

type einoAgent struct {
	at       *agentloop.Endpoint
	messages []*schema.Message
}

func openEino(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return &einoAgent{at: at}, nil
}

func (a *einoAgent) Fork(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return &einoAgent{at, slices.Clone(a.messages)}, nil
}

func (a *einoAgent) runner(ctx context.Context, t agentloop.Turn) (*adk.Runner, error) {
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: "key", BaseURL: a.at.URL + "/v1", Model: t.Model, HTTPClient: a.at.Client})
	if err != nil {
		return nil, err
	}
	read, err := utils.InferTool("read", "reads a file", func(_ context.Context, in args) (string, error) { return a.at.Read(in.Name), nil })
	if err != nil {
		return nil, err
	}
	reader, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "reader", Description: "reads files", Instruction: "You read files.", Model: m, MaxIterations: steps,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}}},
	})
	if err != nil {
		return nil, err
	}
	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: reader, EnableStreaming: t.Stream}), nil
}

func (a *einoAgent) Run(ctx context.Context, t agentloop.Turn) (text string, err error) {
	r, err := a.runner(ctx, t)
	if err != nil {
		return "", err
	}
	a.messages = append(a.messages, schema.UserMessage(t.Say))
	events := r.Run(ctx, a.messages)
	for e, more := events.Next(); more; e, more = events.Next() {
		if e.Err != nil {
			return "", e.Err
		}
		if e.Output == nil || e.Output.MessageOutput == nil {
			continue
		}
		m, err := e.Output.MessageOutput.GetMessage()
		if err != nil {
			return "", err
		}
		a.messages, text = append(a.messages, m), m.Content
	}
	return text, nil
}
