package compact_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/trace"
)

// The history has equal results, of calls whose ids recur.
func TestTruncationEventsNameTheRightMessageAndTool(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	history := []message.Message{message.System("Be brief."), message.User("Read.")}
	for i, tool := range []string{"read_file", "search", "fetch"} {
		history = append(history,
			message.Assistant("", message.Call("call_1", tool, `{}`)),
			message.ToolResult("call_1", text(4_700)),
			message.User(fmt.Sprintf("And then? %d", i)))
	}
	res := r.preflight(history)
	if res.TruncatedCount < 2 {
		t.Fatalf("%d truncated, want at least 2", res.TruncatedCount)
	}
	events := r.named(trace.NameTruncatedResults)
	if len(events) == 0 {
		t.Fatal("no event")
	}
	told := map[int]string{}
	for _, e := range events {
		var data trace.TruncatedResults
		if err := json.Unmarshal([]byte(e.Data.String()), &data); err != nil {
			t.Fatal(err)
		}
		for _, size := range data.Results {
			told[size.Index] = size.Role + " " + size.Tool
		}
	}
	truncated := 0
	for _, d := range res.Decisions {
		if d.Decision.String() != "truncated" {
			continue
		}
		truncated++
		if want := "tool " + history[d.Index-1].Parts[0].Name; told[d.Index] != want {
			t.Errorf("message %d is reported as %q, want %q, in %v", d.Index, told[d.Index], want, told)
		}
	}
	if len(told) != truncated {
		t.Errorf("%d truncations are in the events, want %d", len(told), truncated)
	}
}
