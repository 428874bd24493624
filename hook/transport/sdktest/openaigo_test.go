package sdktest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

func newOpenAI(r *rig) openai.Client {
	return openai.NewClient(
		option.WithBaseURL(r.url+"/v1/"), option.WithAPIKey("key"),
		option.WithMiddleware(option.Middleware(r.middleware())),
	)
}

type chat struct {
	client openai.Client
	stream bool
	params openai.ChatCompletionNewParams
	last   openai.ChatCompletionMessage
}

func openChat(r *rig, stream bool) agent {
	return &chat{client: newOpenAI(r), stream: stream, params: openai.ChatCompletionNewParams{
		Model:    "gpt-4o",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.DeveloperMessage("You read files."), openai.UserMessage("Read them all.")},
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "read"})},
	}}
}

func (a *chat) say(ctx context.Context, results []string) (calls []call, text string, err error) {
	for i, res := range results {
		a.params.Messages = append(a.params.Messages, openai.ToolMessage(res, a.last.ToolCalls[i].ID))
	}
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
		calls = append(calls, call{c.ID, c.Function.Name})
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
	client openai.Client
	stream bool
	input  responses.ResponseInputParam
	calls  []call
}

func openResponses(r *rig, stream bool) agent {
	return &items{client: newOpenAI(r), stream: stream, input: responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage("Read them all.", responses.EasyInputMessageRoleUser),
	}}
}

// raw is an item as it stands in JSON.
func raw(item string) responses.ResponseInputItemUnionParam {
	return param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item))
}

func (a *items) say(ctx context.Context, results []string) (calls []call, text string, err error) {
	for i, res := range results {
		a.input = append(a.input, raw(fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, a.calls[i].id, res)))
	}
	params := responses.ResponseNewParams{
		Model: "gpt-5", Instructions: openai.String("You read files."), Store: openai.Bool(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Input:   responses.ResponseNewParamsInputUnion{OfInputItemList: a.input},
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
			calls = append(calls, call{it.CallID, it.Name})
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
			return nil, fmt.Errorf("the stream says %s", e.RawJSON())
		}
	}
	if answer == nil && s.Err() == nil {
		return nil, fmt.Errorf("the stream ended without an answer")
	}
	return answer, s.Err()
}
