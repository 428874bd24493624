package sdktest

import (
	"context"
	"errors"
	"io"

	openai "github.com/sashabaranov/go-openai"
)

type goOpenAI struct {
	client   *openai.Client
	stream   bool
	messages []openai.ChatCompletionMessage
}

func openGoOpenAI(r *rig, stream bool) agent {
	config := openai.DefaultConfig("key")
	config.BaseURL, config.HTTPClient = r.url+"/v1", r.client
	return &goOpenAI{client: openai.NewClientWithConfig(config), stream: stream, messages: []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleSystem, Content: "You read files."}, {Role: openai.ChatMessageRoleUser, Content: "Read them all."},
	}}
}

func (a *goOpenAI) say(ctx context.Context, results []string) (calls []call, text string, err error) {
	last := a.messages[len(a.messages)-1]
	for i, res := range results {
		a.messages = append(a.messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, Content: res, ToolCallID: last.ToolCalls[i].ID})
	}
	q := openai.ChatCompletionRequest{
		Model: "gpt-4o", Messages: a.messages, Stream: a.stream,
		Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "read", Parameters: map[string]any{"type": "object"}}}},
	}
	var answer openai.ChatCompletionMessage
	if a.stream {
		answer, err = a.streamed(ctx, q)
	} else {
		var resp openai.ChatCompletionResponse
		if resp, err = a.client.CreateChatCompletion(ctx, q); err == nil {
			answer = resp.Choices[0].Message
		}
	}
	if err != nil {
		return nil, "", err
	}
	a.messages = append(a.messages, answer)
	for _, c := range answer.ToolCalls {
		calls = append(calls, call{c.ID, c.Function.Name})
	}
	return calls, answer.Content, nil
}

func (a *goOpenAI) streamed(ctx context.Context, q openai.ChatCompletionRequest) (m openai.ChatCompletionMessage, err error) {
	s, err := a.client.CreateChatCompletionStream(ctx, q)
	if err != nil {
		return m, err
	}
	defer func() { _ = s.Close() }()
	m.Role = openai.ChatMessageRoleAssistant
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return m, err
		}
		for _, c := range chunk.Choices {
			m.Content += c.Delta.Content
			m.ToolCalls = append(m.ToolCalls, c.Delta.ToolCalls...)
		}
	}
}
