package main

import (
	"net/http"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// named sets the session and the agent of a request from ADK's own session and
// agent. It can be the callback of one agent, or of all agents:
// plugin.Config{BeforeModelCallback: named}.
func named(ctx agent.Context, q *model.LLMRequest) (*model.LLMResponse, error) {
	if q.Config.HTTPOptions == nil {
		q.Config.HTTPOptions = &genai.HTTPOptions{}
	}
	if q.Config.HTTPOptions.Headers == nil {
		q.Config.HTTPOptions.Headers = http.Header{}
	}
	q.Config.HTTPOptions.Headers.Set("X-Compact-Session", ctx.SessionID()) // these headers do not leave the program
	q.Config.HTTPOptions.Headers.Set("X-Compact-Agent", ctx.AgentName())
	return nil, nil
}
