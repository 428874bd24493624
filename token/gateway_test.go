package token_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

func TestGatewayCountsEachFieldRoundedDown(t *testing.T) {
	e := token.NewGatewayEstimator()
	for name, c := range map[string]struct {
		m    message.Message
		want int
	}{
		"nothing":                            {message.User(""), 4},
		"3 bytes":                            {message.User("abc"), 4},
		"4 bytes":                            {message.User("abcd"), 5},
		"9 bytes of 3 characters":            {message.User("日本語"), 6},
		"a result":                           {message.ToolResult("", strings.Repeat("x", 40)), 14},
		"a result and the call's id":         {message.ToolResult("call_123", strings.Repeat("x", 40)), 16},
		"text and id are rounded separately": {message.ToolResult("abc", "xyz"), 4},
		// [{"id":"a","type":"function","function":{"name":"b","arguments":"{}"}}] is 71 bytes.
		"a call":                  {message.Assistant("", message.Call("a", "b", "{}")), 4 + 71/4},
		"four calls, with commas": {message.Assistant("", message.Call("a", "b", "{}"), message.Call("a", "b", "{}"), message.Call("a", "b", "{}"), message.Call("a", "b", "{}")), 4 + (71+3*70)/4},
		"two calls":               {message.Assistant("", message.Call("a", "b", "{}"), message.Call("a", "b", "{}")), 4 + (71+70)/4},
	} {
		if got := e.Message(c.m); got != c.want {
			t.Errorf("%s: %d tokens, want %d", name, got, c.want)
		}
	}
	if n := e.Tools(nil) + e.Reply(); n != 0 {
		t.Errorf("no tools and the reply cost %d, want nothing", n)
	}
}
