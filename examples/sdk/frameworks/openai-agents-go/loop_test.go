package main

import (
	"context"
	"slices"
	"testing"

	"github.com/nlpodyssey/openai-agents-go/agents"
	"github.com/openai/openai-go/v2/option"
	"github.com/openai/openai-go/v2/packages/param"
	"github.com/openai/openai-go/v2/responses"

	"github.com/agentcompact/compact/internal/agentloop"
	_ "github.com/agentcompact/compact/internal/testkey"
)

// With COMPACT_SOAK the loops are long.
func TestLoop(t *testing.T) {
	agentloop.Test(t, agentloop.SDK{Name: "nlpodyssey/openai-agents-go", Models: [2]string{"gpt-5", "gpt-4.1"}, Open: openAgents, Streams: true, Drops: true})
}

func TestExample(t *testing.T) { agentloop.Example(t, main) }

// args are the arguments of the tool.
type args struct {
	Name string `json:"name"`
}

// steps is the maximum number of steps of a turn; no turn of the loop reaches it.
const steps = 1000

type agentsAgent struct {
	at    *agentloop.Endpoint
	items []agents.TResponseInputItem
}

func openAgents(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return &agentsAgent{at: at}, nil
}

func (a *agentsAgent) Fork(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return &agentsAgent{at, slices.Clone(a.items)}, nil
}

func (a *agentsAgent) Run(ctx context.Context, t agentloop.Turn) (string, error) {
	client := agents.NewOpenaiClient(param.NewOpt(a.at.URL+"/v1"), param.NewOpt("key"), option.WithHTTPClient(a.at.Client))
	read := agents.NewFunctionTool("read", "reads a file", func(_ context.Context, in args) (string, error) { return a.at.Read(in.Name), nil })
	reader := agents.New("reader").WithInstructions("You read files.").WithTools(read).WithModel(t.Model)
	r := agents.Runner{Config: agents.RunConfig{
		MaxTurns: steps, TracingDisabled: true, ModelProvider: agents.NewOpenAIProvider(agents.OpenAIProviderParams{OpenaiClient: &client}),
	}}
	a.items = append(a.items, responses.ResponseInputItemParamOfMessage(t.Say, responses.EasyInputMessageRoleUser))
	if t.Stream {
		return a.streamed(ctx, r, reader)
	}
	res, err := r.RunInputs(ctx, reader, a.items)
	if err != nil {
		return "", err
	}
	a.items = res.ToInputList()
	text, _ := res.FinalOutput.(string)
	return text, nil
}

func (a *agentsAgent) streamed(ctx context.Context, r agents.Runner, reader *agents.Agent) (string, error) {
	res, err := r.RunInputsStreamed(ctx, reader, a.items)
	if err != nil {
		return "", err
	}
	if err := res.StreamEvents(func(agents.StreamEvent) error { return nil }); err != nil {
		return "", err
	}
	a.items = res.ToInputList()
	text, _ := res.FinalOutput().(string)
	return text, nil
}
