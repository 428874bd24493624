package policy_test

import (
	"errors"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// If a ledger could not store an edit exactly, another process would compute another view.
func TestApplyRejectsEditsThatALedgerCannotStore(t *testing.T) {
	history := []message.Message{message.User("u"), message.Assistant("", message.Call("1", "bash", `{}`)), message.ToolResult("1", "a long result"), message.Assistant("a")}
	summary := func(body string) *message.Message { m := policy.NewSummary(1, body); return &m }
	for name, c := range map[string]struct {
		edit policy.Edit
		want error
	}{
		"a literal":          {policy.Edit{Decision: policy.Truncated, Text: &policy.TextEdit{Index: 2, Segments: []policy.Segment{{To: 1}, {Lit: "…"}}}}, nil},
		"half a character":   {policy.Edit{Decision: policy.Truncated, Text: &policy.TextEdit{Index: 2, Segments: []policy.Segment{{To: 1}, {Lit: "\xe2\x80"}}}}, policy.ErrEdit},
		"two halves":         {policy.Edit{Decision: policy.Truncated, Text: &policy.TextEdit{Index: 2, Segments: []policy.Segment{{Lit: "\xe2\x80"}, {Lit: "\xa6"}}}}, policy.ErrEdit},
		"a summary":          {policy.Edit{Decision: policy.Summarized, Cut: &policy.Cut{Removed: []int{1, 2}, Recent: 3, New: summary("said é")}}, nil},
		"a summary of bytes": {policy.Edit{Decision: policy.Summarized, Cut: &policy.Cut{Removed: []int{1, 2}, Recent: 3, New: summary("said \xff")}}, policy.ErrEdit},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := reduce.NewConversation(history, policy.Pins{}, nil).Apply([]policy.Edit{c.edit}); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
