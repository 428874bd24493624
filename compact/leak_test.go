package compact

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
)

// A lane remembers only the last view, neither earlier views nor the call, with
// every preset.
func TestLaneRemembersOneView(t *testing.T) {
	for _, preset := range Presets() {
		t.Run(preset, func(t *testing.T) {
			ctx := context.Background()
			m, err := New(ctx, Config{Preset: preset, Model: "gpt-4o", MaxContextTokens: 16_000, Archive: memory.New()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = m.Close(ctx) }()
			history := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
			var views []weak.Pointer[policy.View]
			looked := 0
			for i := range 64 {
				id := fmt.Sprintf("call_%d", i)
				history = append(history, message.Assistant("", message.Call(id, "read_file", `{"path":"a.go"}`)),
					message.ToolResult(id, fmt.Sprint(i)+strings.Repeat(" some words", 200)))
				compacted, res := calls(t, m, history)
				views = append(views, weak.Make(m.sessions["s"].lanes[ledger.Owner{}].memo.now.seen.view))
				if compacted && looked < 8 {
					looked++
					if runtime.GC(); res.Value() != nil {
						t.Fatalf("call %d, which compacted, is still in memory", i)
					}
				}
			}
			runtime.GC()
			left := 0
			for _, v := range views {
				if v.Value() != nil {
					left++
				}
			}
			if looked == 0 || left > 2 {
				t.Errorf("of the views of %d calls %d are still in memory; %d calls compacted", len(views), left, looked)
			}
		})
	}
}

// calls makes a call, and keeps nothing of it.
func calls(t *testing.T, m *CompactManager, history []message.Message) (compacted bool, _ weak.Pointer[Result]) {
	t.Helper()
	res, err := m.Preflight(context.Background(), "s", history)
	if err != nil {
		t.Fatal(err)
	}
	return res.Triggered, weak.Make(res)
}
