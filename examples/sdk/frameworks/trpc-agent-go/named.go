package main

import (
	"context"

	"trpc.group/trpc-go/trpc-agent-go/agent"
	"trpc.group/trpc-go/trpc-agent-go/model"

	"github.com/agentcompact/compact/hook/transport"
)

// named sets the session and the agent of a request from trpc-agent-go's own
// session and agent.
func named(ctx context.Context, _ *model.BeforeModelArgs) (*model.BeforeModelResult, error) {
	if in, ok := agent.InvocationFromContext(ctx); ok && in.Session != nil {
		ctx = transport.WithAgent(transport.WithSession(ctx, in.Session.ID), in.AgentName)
	}
	return &model.BeforeModelResult{Context: ctx}, nil
}
