package sdktest

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

type claude struct {
	client anthropic.Client
	stream bool
	params anthropic.MessageNewParams
	calls  []call
}

func openAnthropic(r *rig, stream bool) agent {
	return &claude{
		stream: stream,
		client: anthropic.NewClient(
			option.WithBaseURL(r.url), option.WithAPIKey("key"),
			option.WithMiddleware(option.Middleware(r.middleware())),
		),
		params: anthropic.MessageNewParams{
			Model: "claude-sonnet-4-5", MaxTokens: 1000,
			Thinking: anthropic.ThinkingConfigParamOfEnabled(2000),
			System:   []anthropic.TextBlockParam{{Text: "You read files.", CacheControl: anthropic.NewCacheControlEphemeralParam()}},
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Read them all."))},
			Tools:    []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read"}}},
		},
	}
}

func (a *claude) say(ctx context.Context, results []string) (calls []call, text string, err error) {
	var blocks []anthropic.ContentBlockParamUnion
	for i, res := range results {
		blocks = append(blocks, anthropic.NewToolResultBlock(a.calls[i].id, res, false))
	}
	if blocks != nil {
		a.params.Messages = append(a.params.Messages, anthropic.NewUserMessage(blocks...))
	}
	var answer *anthropic.Message
	if a.stream {
		answer, err = a.streamed(ctx)
	} else {
		answer, err = a.client.Messages.New(ctx, a.params)
	}
	if err != nil {
		return nil, "", err
	}
	a.params.Messages = append(a.params.Messages, answer.ToParam())
	for _, b := range answer.Content {
		switch b.Type {
		case "tool_use":
			calls = append(calls, call{b.ID, b.Name})
		case "text":
			text += b.Text
		}
	}
	a.calls = calls
	return calls, text, nil
}

func (a *claude) streamed(ctx context.Context) (*anthropic.Message, error) {
	s := a.client.Messages.NewStreaming(ctx, a.params)
	defer func() { _ = s.Close() }()
	var m anthropic.Message
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			return nil, err
		}
	}
	return &m, s.Err()
}
