package message_test

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// Only parts of a wire that no table knows are calls of the provider's own tools: a client's tool
// may have the same name.
func TestServerCallsAreThoseOfTheProvider(t *testing.T) {
	for name, c := range map[string]struct {
		part   message.Part
		id     string
		result bool
	}{
		"a call":             {message.Part{Kind: message.KindOther, Name: "server_tool_use", Args: []byte(`{"id":"s","name":"n"}`)}, "s", false},
		"a call of MCP":      {message.Part{Kind: message.KindOther, Name: "mcp_tool_use", Args: []byte(`{"id":"s"}`)}, "s", false},
		"a result":           {message.Part{Kind: message.KindOther, Name: "x_tool_result", Args: []byte(`{"tool_use_id":"s","id":"t"}`)}, "s", true},
		"another part":       {message.Part{Kind: message.KindOther, Name: "x", Args: []byte(`{"id":"s"}`)}, "", false},
		"a client's call":    {message.Part{Kind: message.KindToolCall, Name: "server_tool_use", Args: []byte(`{"id":"s"}`)}, "", false},
		"a part of a result": {message.Part{Kind: message.KindOther, CallID: "a", Name: "server_tool_use", Args: []byte(`{"id":"s"}`)}, "", false},
	} {
		if id, result := message.ServerCall(&c.part); id != c.id || result != c.result {
			t.Errorf("%s: id %q, result %v, want %q and %v", name, id, result, c.id, c.result)
		}
	}
}
