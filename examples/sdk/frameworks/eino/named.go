package main

import (
	"context"

	"github.com/cloudwego/eino/adk"

	"github.com/agentcompact/compact/hook/transport"
)

// named sets the session of a request from a value of eino's session.
type named struct {
	*adk.BaseChatModelAgentMiddleware
}

func (named) BeforeModelRewriteState(ctx context.Context, s *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	if id, ok := adk.GetSessionValue(ctx, "session"); ok {
		ctx = transport.WithSession(ctx, id.(string))
	}
	return ctx, s, nil
}
