package main

import (
	"context"
	"slices"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option"

	"github.com/agentcompact/compact/internal/agentloop"
	_ "github.com/agentcompact/compact/internal/testkey"
)

// With COMPACT_SOAK the loops are long.
func TestLoop(t *testing.T) {
	agentloop.Test(t, agentloop.SDK{Name: "firebase/genkit", Models: [2]string{"gpt-4o", "gpt-4.1"}, Open: openGenkit, Streams: true, Forgets: true})
}

func TestExample(t *testing.T) { agentloop.Example(t, main) }

// args are the arguments of the tool.
type args struct {
	Name string `json:"name"`
}

// steps is the maximum number of steps of a turn; no turn of the loop reaches it.
const steps = 1000

type genkitAgent struct {
	g        *genkit.Genkit
	read     ai.Tool
	messages []*ai.Message
}

func openGenkit(ctx context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	a := &genkitAgent{g: genkit.Init(ctx, genkit.WithPlugins(&openai.OpenAI{
		APIKey: "key", Opts: []option.RequestOption{option.WithBaseURL(at.URL + "/v1"), option.WithHTTPClient(at.Client)},
	}))}
	a.read = genkit.DefineTool(a.g, "read", "reads a file", func(_ *ai.ToolContext, in args) (string, error) { return at.Read(in.Name), nil })
	return a, nil
}

func (a *genkitAgent) Fork(ctx context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	opened, err := openGenkit(ctx, at)
	if err != nil {
		return nil, err
	}
	opened.(*genkitAgent).messages = slices.Clone(a.messages)
	return opened, nil
}

func (a *genkitAgent) Run(ctx context.Context, t agentloop.Turn) (string, error) {
	if a.messages == nil {
		a.messages = append(a.messages, ai.NewSystemTextMessage("You read files."))
	}
	a.messages = append(a.messages, ai.NewUserTextMessage(t.Say))
	options := []ai.GenerateOption{ai.WithModelName("openai/" + t.Model), ai.WithMessages(a.messages...), ai.WithTools(a.read), ai.WithMaxTurns(steps)}
	if t.Stream {
		options = append(options, ai.WithStreaming(func(context.Context, *ai.ModelResponseChunk) error { return nil }))
	}
	resp, err := genkit.Generate(ctx, a.g, options...)
	if err != nil {
		return "", err
	}
	if !t.Stream { // genkit does not report the calls before a streamed answer
		a.messages = resp.History()
	} else {
		a.messages = append(a.messages, resp.Message)
	}
	return resp.Text(), nil
}
