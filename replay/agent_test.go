package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A summary by the agent's own model is billed as the previous prompt, read from the
// cache, plus its own text; no model is asked.
func TestSummariesByTheAgentsOwnModelArePriced(t *testing.T) {
	msgs := []message.Message{message.System("You are an agent."), message.User("Read all files.")}
	for i := range 30 {
		id := fmt.Sprint("c", i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "read", fmt.Sprintf(`{"path":"file_%d.go"}`, i))), message.ToolResult(id, strings.Repeat("a line of code; ", 250)))
	}
	s := &Session{Name: "files", Messages: append(msgs, message.Assistant("I have read file_29.go."))}
	var cost [2]float64
	for i, backend := range []string{"extractive", "agent"} {
		p := preset(t, "summarize").(managed)
		p.config.Summarizer.Backend = backend
		rep := run(t, Options{Policies: []Policy{p}, Windows: []int{16_000}}, s)
		if rep.Err() != nil {
			t.Fatal(rep.Err())
		}
		cost[i] = rep.Rows[0].SummaryCost
		if rep.Rows[0].Compactions == 0 {
			t.Fatal("nothing was compacted")
		}
	}
	if cost[0] != 0 || cost[1] <= 0 {
		t.Errorf("summaries cost %v", cost)
	}
}
