package sdktest

import (
	"context"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

type claude struct {
	mode
	client anthropic.Client
	params anthropic.MessageNewParams
	calls  []call
}

func newAnthropic(at place) anthropic.Client {
	way := option.WithHTTPClient(at.client)
	if at.mid != nil {
		way = option.WithMiddleware(option.Middleware(at.mid))
	}
	return anthropic.NewClient(option.WithBaseURL(at.url), option.WithAPIKey("key"), way)
}

func openAnthropic(at place) agent {
	return &claude{client: newAnthropic(at), params: anthropic.MessageNewParams{
		MaxTokens: 3000, Thinking: anthropic.ThinkingConfigParamOfEnabled(2000),
		System: []anthropic.TextBlockParam{{Text: "You read files.", CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Tools: []anthropic.ToolUnionParam{
			{OfTool: &anthropic.ToolParam{Name: "read"}}, {OfWebSearchTool20250305: &anthropic.WebSearchTool20250305Param{}},
		},
	}}
}

func (a *claude) fork(at place) agent {
	b := *a
	b.client, b.params.Messages = newAnthropic(at), slices.Clone(a.params.Messages)
	return &b
}

func (a *claude) user(text string) {
	a.params.Messages = append(a.params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(text)))
}

func (a *claude) say(ctx context.Context, results []string) (calls []call, text string, err error) {
	var blocks []anthropic.ContentBlockParamUnion
	for i, res := range results {
		blocks = append(blocks, anthropic.NewToolResultBlock(a.calls[i].id, res, false))
	}
	if blocks != nil {
		a.params.Messages = append(a.params.Messages, anthropic.NewUserMessage(blocks...))
	}
	a.params.Model = anthropic.Model(a.model)
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
			calls = append(calls, call{b.ID, b.Name, string(b.Input)})
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
