package recall_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// compacted returns an archive with an agent's session that has old results.
func compacted(ctx context.Context) (storage.Archive, error) {
	archive := memory.New()
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: archive})
	if err != nil {
		return nil, err
	}
	defer m.Close(ctx)
	history := []message.Message{message.User("Find the error.")}
	for i := range 40 {
		id := fmt.Sprintf("call_%d", i)
		history = append(history,
			message.Assistant("", message.Call(id, "read", `{"file":"app.log"}`)),
			message.ToolResult(id, fmt.Sprintf("log %d\n", i)+strings.Repeat("INFO all is well\n", 50)+fmt.Sprintf("ERROR disk %d full", i)))
	}
	_, err = m.Preflight(ctx, "session-1", history)
	return archive, err
}

// Another program searches the text that an agent no longer sees, and reads one of the
// results.
func Example() {
	ctx := context.Background()
	archive, err := compacted(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	pattern, err := recall.SearchPattern("disk 7 full")
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := recall.Search(ctx, archive, "session-1", pattern, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range found.Matches {
		fmt.Printf("turn %d, line %d: %s\n", m.Turn, m.Line, m.Text)
		text, err := recall.Text(ctx, archive, "session-1", m.Ref, recall.Head(2))
		fmt.Println(text, err)
	}
	// Output:
	// turn 8, line 52: ERROR disk 7 full
	// log 7
	// INFO all is well <nil>
}

// A program that reads several texts opens the session once.
func ExampleOpen() {
	ctx := context.Background()
	archive, err := compacted(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := recall.Open(ctx, archive, "session-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for turn := range 2 {
		text, err := s.Text(ctx, fmt.Sprintf("turn:%d:observation", turn+1), recall.Tail(1))
		fmt.Println(text, err)
	}
	// Output:
	// ERROR disk 0 full <nil>
	// ERROR disk 1 full <nil>
}
