package sdktest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

func newOpenAI(at place) openai.Client {
	way := option.WithHTTPClient(at.client)
	if at.mid != nil {
		way = option.WithMiddleware(option.Middleware(at.mid))
	}
	return openai.NewClient(option.WithBaseURL(at.url+"/v1/"), option.WithAPIKey("key"), way)
}

type chat struct {
	mode
	client openai.Client
	params openai.ChatCompletionNewParams
	last   openai.ChatCompletionMessage
}

func openChat(at place) agent {
	return &chat{client: newOpenAI(at), params: openai.ChatCompletionNewParams{
		Messages: []openai.ChatCompletionMessageParamUnion{openai.DeveloperMessage("You read files.")},
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "read"})},
	}}
}

func (a *chat) fork(at place) agent {
	b := *a
	b.client, b.params.Messages = newOpenAI(at), slices.Clone(a.params.Messages)
	return &b
}

func (a *chat) user(text string) {
	a.params.Messages = append(a.params.Messages, openai.UserMessage(text))
}

func (a *chat) say(ctx context.Context, results []string) (calls []call, text string, err error) {
	for i, res := range results {
		a.params.Messages = append(a.params.Messages, openai.ToolMessage(res, a.last.ToolCalls[i].ID))
	}
	a.params.Model = a.model
	var answer *openai.ChatCompletion
	if a.stream {
		answer, err = a.streamed(ctx)
	} else {
		answer, err = a.client.Chat.Completions.New(ctx, a.params)
	}
	if err != nil {
		return nil, "", err
	}
	a.last = answer.Choices[0].Message
	a.params.Messages = append(a.params.Messages, a.last.ToParam())
	for _, c := range a.last.ToolCalls {
		calls = append(calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return calls, a.last.Content, nil
}

func (a *chat) streamed(ctx context.Context) (*openai.ChatCompletion, error) {
	params := a.params
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	s := a.client.Chat.Completions.NewStreaming(ctx, params)
	defer func() { _ = s.Close() }()
	var acc openai.ChatCompletionAccumulator
	for s.Next() {
		acc.AddChunk(s.Current())
	}
	return &acc.ChatCompletion, s.Err()
}

type items struct {
	mode
	client openai.Client
	input  responses.ResponseInputParam
	calls  []call
}

func openResponses(at place) agent { return &items{client: newOpenAI(at)} }

func (a *items) fork(at place) agent {
	b := *a
	b.client, b.input = newOpenAI(at), slices.Clone(a.input)
	return &b
}

func (a *items) user(text string) {
	a.input = append(a.input, responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser))
}

// raw returns an item from its JSON.
func raw(item string) responses.ResponseInputItemUnionParam {
	return param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item))
}

func (a *items) say(ctx context.Context, results []string) (calls []call, text string, err error) {
	for i, res := range results {
		a.input = append(a.input, raw(fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, a.calls[i].id, res)))
	}
	params := responses.ResponseNewParams{
		Model: a.model, Instructions: openai.String("You read files."), Store: openai.Bool(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Input:   responses.ResponseNewParamsInputUnion{OfInputItemList: a.input},
		Tools:   []responses.ToolUnionParam{responses.ToolParamOfFunction("read", map[string]any{"type": "object"}, false)},
	}
	var answer *responses.Response
	if a.stream {
		answer, err = a.streamed(ctx, params)
	} else {
		answer, err = a.client.Responses.New(ctx, params)
	}
	if err != nil {
		return nil, "", err
	}
	for _, it := range answer.Output {
		a.input = append(a.input, raw(it.RawJSON()))
		if it.Type == "function_call" {
			calls = append(calls, call{it.CallID, it.Name, it.Arguments.OfString})
		}
	}
	a.calls = calls
	return calls, answer.OutputText(), nil
}

func (a *items) streamed(ctx context.Context, params responses.ResponseNewParams) (*responses.Response, error) {
	s := a.client.Responses.NewStreaming(ctx, params)
	defer func() { _ = s.Close() }()
	var answer *responses.Response
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "response.completed":
			answer = &e.Response
		case "response.failed", "error":
			return nil, fmt.Errorf("the stream contains %s", e.RawJSON())
		}
	}
	if answer == nil && s.Err() == nil {
		return nil, fmt.Errorf("the stream ended without an answer")
	}
	return answer, s.Err()
}
