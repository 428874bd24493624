package main

import (
	"context"
	"errors"
	"testing"

	"trpc.group/trpc-go/trpc-agent-go/agent"
	"trpc.group/trpc-go/trpc-agent-go/agent/llmagent"
	"trpc.group/trpc-go/trpc-agent-go/model"
	"trpc.group/trpc-go/trpc-agent-go/model/openai"
	"trpc.group/trpc-go/trpc-agent-go/runner"
	"trpc.group/trpc-go/trpc-agent-go/session"
	"trpc.group/trpc-go/trpc-agent-go/session/inmemory"
	"trpc.group/trpc-go/trpc-agent-go/tool"
	"trpc.group/trpc-go/trpc-agent-go/tool/function"

	"github.com/agentcompact/compact/internal/agentloop"
	_ "github.com/agentcompact/compact/internal/testkey"
)

// With COMPACT_SOAK the loops are long.
func TestLoop(t *testing.T) {
	agentloop.Test(t, agentloop.SDK{Name: "trpc-agent-go", Models: [2]string{"gpt-4o", "gpt-4.1"}, Open: openTRPC, Streams: true})
}

func TestExample(t *testing.T) { agentloop.Example(t, main) }

// args are the arguments of the tool.
type args struct {
	Name string `json:"name"`
}

type trpcAgent struct {
	at       *agentloop.Endpoint
	sessions session.Service
}

var trpcSession = session.Key{AppName: "app", UserID: "user", SessionID: "trpc"}

func openTRPC(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return &trpcAgent{at, inmemory.NewSessionService()}, nil
}

func (a *trpcAgent) Fork(ctx context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	fork := &trpcAgent{at, inmemory.NewSessionService()}
	mine, err := a.sessions.GetSession(ctx, trpcSession)
	if err != nil {
		return nil, err
	}
	theirs, err := fork.sessions.CreateSession(ctx, trpcSession, nil)
	if err != nil {
		return nil, err
	}
	for _, e := range mine.GetEvents() {
		if err := fork.sessions.AppendEvent(ctx, theirs, &e); err != nil {
			return nil, err
		}
	}
	return fork, nil
}

func (a *trpcAgent) Run(ctx context.Context, t agentloop.Turn) (text string, err error) {
	m := openai.New(t.Model, openai.WithAPIKey("key"), openai.WithBaseURL(a.at.URL+"/v1"),
		openai.WithHTTPClientOptions(model.WithHTTPClientTransport(a.at.Client.Transport)))
	read := function.NewFunctionTool(func(_ context.Context, in args) (string, error) { return a.at.Read(in.Name), nil },
		function.WithName("read"), function.WithDescription("reads a file"))
	reader := llmagent.New("reader", llmagent.WithModel(m), llmagent.WithInstruction("You read files."), llmagent.WithTools([]tool.Tool{read}))
	r := runner.NewRunner("app", reader, runner.WithSessionService(a.sessions))
	defer func() { err = errors.Join(err, r.Close()) }()
	events, err := r.Run(ctx, "user", "trpc", model.NewUserMessage(t.Say), agent.WithStream(t.Stream))
	if err != nil {
		return "", err
	}
	for e := range events {
		if e.Error != nil {
			err = errors.New(e.Error.Message)
		}
		if !e.IsPartial && len(e.Choices) > 0 && e.Choices[0].Message.Role == model.RoleAssistant {
			text = e.Choices[0].Message.Content
		}
	}
	return text, err
}
