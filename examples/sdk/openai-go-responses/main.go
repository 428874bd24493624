// Command openai-go-responses is an agent on responses of github.com/openai/openai-go.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop/scripted"
)

func main() {
	ctx := transport.WithSession(context.Background(), "openai-go-responses")
	m, err := compact.New(ctx, compact.Config{MaxContextTokens: 16_000})
	scripted.Check(err)
	defer m.Close(ctx)
	base, key := scripted.Model("OPENAI_API_KEY", "https://api.openai.com", "/v1/")
	client := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey(key), option.WithMiddleware(transport.Middleware(m, transport.Recall())))
	for input, done := (responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("Read 30 files.", responses.EasyInputMessageRoleUser)}), false; !done; {
		answer, err := client.Responses.New(ctx, responses.ResponseNewParams{Model: "gpt-5", Store: openai.Bool(false), Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input}, Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("read", map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}}, false)}})
		scripted.Check(err)
		fmt.Print(answer.OutputText())
		done = true
		for _, it := range answer.Output {
			input = append(input, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(it.RawJSON())))
			if it.Type == "function_call" {
				result, _ := json.Marshal(map[string]string{"type": "function_call_output", "call_id": it.CallID, "output": scripted.Read(it.Name)})
				input, done = append(input, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(result))), false
			}
		}
	}
}
