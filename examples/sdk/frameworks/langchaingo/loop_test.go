package main

import (
	"context"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	"github.com/agentcompact/compact/internal/agentloop"
	_ "github.com/agentcompact/compact/internal/testkey"
)

// With COMPACT_SOAK the loops are long.
func TestLoop(t *testing.T) {
	agentloop.Test(t, agentloop.SDK{Name: "tmc/langchaingo", Models: [2]string{"gpt-4o", "gpt-4.1"}, Open: openLangChain, Streams: true, Forgets: true})
}

func TestExample(t *testing.T) { agentloop.Example(t, main) }

// steps is the maximum number of steps of a turn; no turn of the loop reaches it.
const steps = 1000

// langAgent is langchaingo's agent of functions. It begins each turn without the
// earlier turns, because its prompt has no place for them, and sends each of
// several calls back as an answer of its own, without the text.
type langAgent struct{ at *agentloop.Endpoint }

func openLangChain(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return langAgent{at}, nil
}

func (langAgent) Fork(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return langAgent{at}, nil
}

type langTool struct{ at *agentloop.Endpoint }

func (langTool) Name() string        { return "read" }
func (langTool) Description() string { return "reads a file" }

func (t langTool) Call(_ context.Context, input string) (string, error) { return t.at.Read(input), nil }

func (a langAgent) Run(ctx context.Context, t agentloop.Turn) (string, error) {
	m, err := openai.New(openai.WithToken("key"), openai.WithBaseURL(a.at.URL+"/v1"), openai.WithModel(t.Model), openai.WithHTTPClient(a.at.Client))
	if err != nil {
		return "", err
	}
	reader := agents.NewOpenAIFunctionsAgent(m, []tools.Tool{langTool{a.at}}, agents.NewOpenAIOption().WithSystemMessage("You read files."))
	var options []chains.ChainCallOption
	if t.Stream {
		options = append(options, chains.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	}
	return chains.Run(ctx, agents.NewExecutor(reader, agents.WithMaxIterations(steps)), t.Say, options...)
}
