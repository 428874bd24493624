package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/trace"
)

// Results that read the same, of calls whose ids come again.
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
		t.Fatalf("%d truncated", res.TruncatedCount)
	}
	events := r.named(trace.NameTruncatedResults)
	if len(events) == 0 {
		t.Fatal("no event")
	}
	named := ""
	for _, e := range events {
		named += e.Data.String()
	}
	for _, d := range res.Decisions {
		if d.Decision.String() != "truncated" {
			continue
		}
		tool := history[d.Index-1].Parts[0].Name
		if !strings.Contains(named, fmt.Sprintf(`"index":%d,`, d.Index)) || !strings.Contains(named, tool) {
			t.Errorf("message %d (%s) is not in %s", d.Index, tool, named)
		}
	}
}
