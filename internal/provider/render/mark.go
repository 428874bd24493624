package render

import "github.com/agentcompact/compact/internal/provider"

// mark sets Anthropic's cache breakpoints as agents do: on the last block of
// the system prompt, on the last tool, and on the last two messages of the
// user. The breakpoints on messages move with every call.
func (s *Session) mark(body object) {
	if s.wire != provider.Anthropic || s.chance("no cache", 0, 4) {
		return
	}
	for _, m := range list(body["messages"]) {
		for _, b := range list(m["content"]) {
			delete(b, "cache_control")
		}
	}
	markLast(body["system"])
	markLast(body["tools"])
	msgs := list(body["messages"])
	for left, i := 2, len(msgs)-1; left > 0 && i >= 0; i-- {
		if str(msgs[i], "role") == "user" && markLast(msgs[i]["content"]) {
			left--
		}
	}
}

// markLast sets a breakpoint on the last block of a list.
func markLast(v any) bool {
	blocks := list(v)
	if len(blocks) == 0 {
		return false
	}
	blocks[len(blocks)-1]["cache_control"] = object{"type": "ephemeral"}
	return true
}

func list(v any) []object {
	l, _ := v.([]any)
	var out []object
	for _, e := range l {
		if o, ok := e.(object); ok {
			out = append(out, o)
		}
	}
	return out
}
