package compact

import (
	"testing"

	"github.com/agentcompact/compact/message/anthropic"
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
