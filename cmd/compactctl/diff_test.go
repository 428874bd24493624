package main

import (
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// The cost of the replacement for removed messages is the cost of the view without the
// kept messages, the tool schemas and the overhead of the format.
func TestDiffShowsTheCostOfASummary(t *testing.T) {
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &diffWriter{planner: planner{redactor: r}}
	c := d.replacement(&compact.Result{
		Messages: []message.Message{message.Assistant(message.SummaryText(1, "s")), message.User("go")}, Sources: []int{-1, 2},
		After: compact.Layers{Total: 1000, ToolsSchema: 700, Overhead: 3},
		Decisions: []compact.MessageDecision{
			{Decision: policy.Summarized, TokensBefore: 50}, {Decision: policy.Summarized, TokensBefore: 40}, {Decision: policy.Kept, TokensBefore: 7, TokensAfter: 7},
		},
	})
	if c.TokensAfter != 290 || c.After == "" {
		t.Errorf("%+v", c)
	}
}
