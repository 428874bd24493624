package sdktest

import (
	"context"
	"errors"
	"io"
	"slices"

	openai "github.com/sashabaranov/go-openai"
)

type goOpenAI struct {
	mode
	client   *openai.Client
	messages []openai.ChatCompletionMessage
}

func newGoOpenAI(at place) *openai.Client {
	config := openai.DefaultConfig("key")
	config.BaseURL, config.HTTPClient = at.url+"/v1", at.client
	return openai.NewClientWithConfig(config)
}

func openGoOpenAI(at place) agent {
	return &goOpenAI{client: newGoOpenAI(at), messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleSystem, Content: "You read files."}}}
}

func (a *goOpenAI) fork(at place) agent {
	b := *a
	b.client, b.messages = newGoOpenAI(at), slices.Clone(a.messages)
	return &b
}

func (a *goOpenAI) user(text string) {
	a.messages = append(a.messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: text})
}

func (a *goOpenAI) say(ctx context.Context, results []string) (calls []call, text string, err error) {
	last := a.messages[len(a.messages)-1]
	for i, res := range results {
		a.messages = append(a.messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, Content: res, ToolCallID: last.ToolCalls[i].ID})
	}
	q := openai.ChatCompletionRequest{
		Model: a.model, Messages: a.messages, Stream: a.stream,
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
		calls = append(calls, call{c.ID, c.Function.Name, c.Function.Arguments})
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
