package compact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// longSession is an agent loop of so many messages with results of so many bytes.
func longSession(messages, bytes int) []message.Message {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
	for i := 0; len(msgs) < messages; i++ {
		id := fmt.Sprintf("call_%04d", i)
		msgs = append(msgs,
			message.Assistant(fmt.Sprintf("Step %d: look at file %d.", i, i), message.Call(id, "read_file", fmt.Sprintf(`{"path":"pkg/file%d.go"}`, i))),
			message.ToolResult(id, fmt.Sprintf("file %d\n", i)+strings.Repeat("func f() error { return nil }\n", bytes/30)))
	}
	return msgs[:messages]
}

// BenchmarkPreflightNothingToDo is the cost of the hook when nothing has to be
// done: 1,000 messages of 500 KB, seen before.
func BenchmarkPreflightNothingToDo(b *testing.B) {
	ctx := context.Background()
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4o", MaxContextTokens: 1_000_000, Archive: memory.New()})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close(ctx)
	history := longSession(1000, 1000)
	if _, err := m.Preflight(ctx, "bench", history); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Preflight(ctx, "bench", history); err != nil {
			b.Fatal(err)
		}
	}
}
