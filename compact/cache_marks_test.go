package compact

import (
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/policy"
)

// The provider counts each block of a request: a result of several parts is one.
func TestBlocksAreCountedAsTheProviderDoes(t *testing.T) {
	req, err := anthropic.Wire.ParseRequest([]byte(`{"messages":[{"role":"user","content":"a"},
		{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c","name":"f","input":{}},{"type":"tool_use","id":"d","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]},{"type":"tool_result","tool_use_id":"d","content":"z"}]}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := blocksIn(req.Messages()); got != 1+3+2 {
		t.Errorf("%d blocks", got)
	}
}

// A caller may add messages to a view before it is written.
func TestSettledOfAViewWithAddedMessages(t *testing.T) {
	r := Result{
		Messages: []message.Message{message.User("a"), message.User("b"), message.User("c")},
		Sources:  []int{0, 1}, Decisions: []MessageDecision{{}, {Decision: policy.Masked}},
	}
	if got := r.Settled(); got != 1 {
		t.Errorf("message %d, want 1", got)
	}
	r.Decisions[1].Decision = policy.Truncated
	if got := r.Settled(); got != -1 {
		t.Errorf("message %d of a view without a mask, want -1", got)
	}
}
