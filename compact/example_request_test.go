package compact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/storage/memory"
)

// A program that keeps its history in the types of an SDK calls Preflight with the JSON of
// its request. It sends the body that Write returns: openai-go and anthropic-sdk-go take it
// as option.WithRequestBody("application/json", view). The history does not change.
func ExampleWithRequest() {
	ctx := context.Background()
	m, err := compact.New(ctx, compact.Config{MaxContextTokens: 8_000, Archive: memory.New()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close(ctx)

	type object = map[string]any // stands for the types of the SDK
	history := []object{{"role": "user", "content": "Find the error."}}
	for i := range 30 {
		call := object{"id": fmt.Sprint("call_", i), "type": "function", "function": object{"name": "read", "arguments": `{"file":"app.log"}`}}
		history = append(history, object{"role": "assistant", "tool_calls": []object{call}},
			object{"role": "tool", "tool_call_id": call["id"], "content": strings.Repeat("INFO all is well\n", 50)})
	}
	body, err := json.Marshal(object{"model": "gpt-4", "messages": history})
	if err != nil {
		fmt.Println(err)
		return
	}

	req, err := openai.Wire.ParseRequest(body, nil) // or that of message/responses, anthropic or gemini
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := m.Preflight(ctx, "session-1", req.Messages(), compact.WithRequest(req))
	if err != nil {
		fmt.Println(err)
		return
	}
	view, err := req.Write(res.Messages, res.Sources)
	fmt.Println("fits:", res.TokensIn <= res.Budget, "then", res.After.Total <= res.Budget)
	fmt.Println("masked:", bytes.Count(view, []byte("observation masked")), "of 30 results", err)
	// Output:
	// fits: false then true
	// masked: 18 of 30 results <nil>
}
