package serve

import (
	"encoding/json"
	"reflect"
	"slices"
)

// op is the origin of one message of the view: a given message, a given message with
// another text, or a new message.
type op struct {
	Keep    *int            `json:"keep,omitempty"`
	Edit    *int            `json:"edit,omitempty"`
	Message json.RawMessage `json:"message,omitempty"` // the message Edit with its new text
	New     json.RawMessage `json:"new,omitempty"`
}

// plan returns the origin of each message of a view. A message with the bytes of a
// given one is kept. If a message with a call or a result differs only in texts from a
// given message that is not in the view, it is the edited form of that message. Every
// other message is new.
func plan(given, view []json.RawMessage) []op {
	from := kept(given, view)
	edited(given, view, from)
	out := make([]op, len(view))
	for i, v := range view {
		switch j := from[i]; {
		case j < 0:
			out[i].New = v
		case string(given[j]) == string(v):
			out[i].Keep = &j
		default:
			out[i].Edit, out[i].Message = &j, v
		}
	}
	return out
}

// kept returns, for each message of the view, the index of a given message
// with the same bytes; -1 = none. Among equal ones it prefers the order of the
// given messages.
func kept(given, view []json.RawMessage) []int {
	places := map[string][]int{}
	for i, g := range given {
		places[string(g)] = append(places[string(g)], i)
	}
	from, next := make([]int, len(view)), 0
	for i, v := range view {
		at := places[string(v)]
		if from[i] = -1; len(at) == 0 {
			continue
		}
		k, _ := slices.BinarySearch(at, next)
		if k == len(at) {
			k = 0 // the view has moved the message behind a later one
		}
		from[i] = at[k]
		places[string(v)] = slices.Delete(slices.Clone(at), k, k+1)
		next = max(next, from[i]+1)
	}
	return from
}

// edited finds the given message for each edited one.
func edited(given, view []json.RawMessage, from []int) {
	used := make([]bool, len(given))
	for _, j := range from {
		if j >= 0 {
			used[j] = true
		}
	}
	next := 0
	for i := range view {
		if from[i] >= 0 {
			next = max(next, from[i]+1)
			continue
		}
		for j := next; j < len(given); j++ {
			if !used[j] && isEdit(given[j], view[i]) {
				from[i], used[j], next = j, true, j+1
				break
			}
		}
	}
}

// isEdit reports whether two messages with a call or a result differ only in texts.
func isEdit(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || !hasCall(x) {
		return false
	}
	return reflect.DeepEqual(blank("", x), blank("", y))
}

// textMembers are the members whose texts a compaction cuts and masks.
var textMembers = []string{"content", "text", "output", "result", "error", "stdout", "stderr"}

// blank returns a value without its texts. A masked function response is an object
// with one text.
func blank(name string, v any) any {
	switch v := v.(type) {
	case string:
		if slices.Contains(textMembers, name) {
			return ""
		}
	case []any:
		if slices.Contains(textMembers, name) {
			return "" // a list of texts may have become one text
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = blank(name, e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if out[k] = blank(k, e); k == "response" {
				out[k] = ""
			}
		}
		return out
	}
	return v
}

// hasCall reports whether a message holds a call of a tool, or a result.
func hasCall(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, hasCall)
	case map[string]any:
		for k, e := range v {
			if slices.Contains([]string{"tool_calls", "tool_call_id", "tool_use_id", "call_id", "functionCall", "functionResponse"}, k) || e == "tool_use" || e == "function" {
				return true
			}
			if (k == "content" || k == "parts") && hasCall(e) {
				return true
			}
		}
	}
	return false
}
