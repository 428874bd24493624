package compact

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

func TestIdleSessionsAreForgottenAndReadAgain(t *testing.T) {
	ctx := context.Background()
	m, err := New(ctx, Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	m.keep = 3
	history := []message.Message{message.User("go")}
	for i := range 60 {
		id := fmt.Sprintf("call_%d", i)
		history = append(history, message.Assistant("", message.Call(id, "read", "{}")),
			message.ToolResult(id, fmt.Sprintf("%d", i)+string(make([]byte, 1000))))
	}
	first, err := m.Preflight(ctx, "first", history)
	if err != nil || !first.Triggered {
		t.Fatalf("triggered %v, %v", first.Triggered, err)
	}
	for i := range 10 {
		if _, err := m.Preflight(ctx, fmt.Sprint("other-", i), history[:3]); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.sessions); n > m.keep {
		t.Errorf("%d sessions in memory, at most %d are wanted", n, m.keep)
	}
	if m.sessions["first"] != nil {
		t.Error("the session that was idle for longest is still in memory")
	}
	again, err := m.Preflight(ctx, "first", history)
	if err != nil || again.Triggered || again.After.Total != first.After.Total || again.Replayed == 0 {
		t.Errorf("read again: triggered %v, %d tokens, %d edits, %v", again.Triggered, again.After.Total, again.Replayed, err)
	}
}

func TestIdleBranchesOfASessionAreForgottenAndReadAgain(t *testing.T) {
	ctx := context.Background()
	m, err := New(ctx, Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	history := []message.Message{message.User("go")}
	for i := range 60 {
		id := fmt.Sprintf("call_%d", i)
		history = append(history, message.Assistant("", message.Call(id, "read", "{}")),
			message.ToolResult(id, fmt.Sprintf("%d", i)+string(make([]byte, 1000))))
	}
	first, err := m.Preflight(ctx, "s", history, WithBranch("first"))
	if err != nil || !first.Triggered {
		t.Fatalf("triggered %v, %v", first.Triggered, err)
	}
	for i := range 2 * maxLanes {
		if _, err := m.Preflight(ctx, "s", history[:3], WithBranch(fmt.Sprint("other-", i))); err != nil {
			t.Fatal(err)
		}
	}
	lanes := m.sessions["s"].lanes
	if len(lanes) != maxLanes || lanes[owner{branch: "first"}] != nil {
		t.Errorf("%d branches in memory, want %d; the one that was idle for longest: %v", len(lanes), maxLanes, lanes[owner{branch: "first"}])
	}
	again, err := m.Preflight(ctx, "s", history, WithBranch("first"))
	if err != nil || again.Triggered || again.After.Total != first.After.Total || again.Replayed == 0 {
		t.Errorf("read again: triggered %v, %d tokens, %d edits, %v", again.Triggered, again.After.Total, again.Replayed, err)
	}
}
