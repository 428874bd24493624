package compact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage/memory"
)

// An agent calls Preflight before every model call and sends the returned
// messages.
func ExampleCompactManager_Preflight() {
	ctx := context.Background()
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close(ctx)

	history := []message.Message{message.System("You read logs."), message.User("Find the error.")}
	for i := range 30 {
		id := fmt.Sprintf("call_%d", i)
		history = append(history,
			message.Assistant("", message.Call(id, "read", `{"file":"app.log"}`)),
			message.ToolResult(id, strings.Repeat("INFO all is well\n", 50)))
	}
	res, err := m.Preflight(ctx, "session-1", history)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("triggered:", res.Triggered, "by", res.ReductionStage)
	fmt.Println("fits:", res.After.Total <= res.Budget)
	fmt.Println("masked:", res.MaskedCount, "of 30 results")
	fmt.Println(res.Messages[7].ResultText())
	// Output:
	// triggered: true by masking
	// fits: true
	// masked: 18 of 30 results
	// [observation masked — 850 chars · read "app.log"]
}

// The original of a placeholder can be read again.
func ExampleCompactManager_Recall() {
	ctx := context.Background()
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close(ctx)

	history := []message.Message{message.User("Find the error.")}
	for i := range 40 {
		id := fmt.Sprintf("call_%d", i)
		history = append(history,
			message.Assistant("", message.Call(id, "read", `{"file":"app.log"}`)),
			message.ToolResult(id, fmt.Sprintf("log %d\n", i)+strings.Repeat("INFO all is well\n", 50)))
	}
	if _, err := m.Preflight(ctx, "session-1", history); err != nil {
		fmt.Println(err)
		return
	}
	ref := m.Ref(history[6].Parts[0]) // the reference in the placeholder
	text, err := m.Recall(ctx, "session-1", ref, recall.Head(2))
	fmt.Println(text, err)
	// Output:
	// log 2
	// INFO all is well <nil>
}

// A tool gives the model access to removed text. The program sets the session,
// the model passes the reference.
func ExampleRecallTool() {
	ctx := context.Background()
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close(ctx)

	history := []message.Message{message.User("Find the error.")}
	for i := range 40 {
		id := fmt.Sprintf("call_%d", i)
		history = append(history,
			message.Assistant("", message.Call(id, "read", `{"file":"app.log"}`)),
			message.ToolResult(id, fmt.Sprintf("log %d\n", i)+strings.Repeat("INFO all is well\n", 50)+"ERROR disk full"))
	}
	if _, err := m.Preflight(ctx, "session-1", history); err != nil {
		fmt.Println(err)
		return
	}
	tool := compact.RecallTool(m)
	definition, err := tool.For("anthropic")
	fmt.Println(len(definition) > 0, err)

	ref := m.Ref(history[6].Parts[0]) // the reference in the placeholder
	answer, err := tool.Call(ctx, "session-1", json.RawMessage(`{"ref":"`+ref+`","pattern":"ERROR","context":1}`))
	fmt.Println(answer, err)
	// Output:
	// true <nil>
	// 51-INFO all is well
	// 52:ERROR disk full <nil>
}
