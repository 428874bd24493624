package serve

import (
	"encoding/json"
	"reflect"
	"slices"
)

// op says where one message of the view comes from: it is one of those that
// were given, one of them with another text in it, or it was made.
type op struct {
	Keep    *int            `json:"keep,omitempty"`
	Edit    *int            `json:"edit,omitempty"`
	Message json.RawMessage `json:"message,omitempty"` // what Edit is now
	New     json.RawMessage `json:"new,omitempty"`
}

// plan says of each message of a view where it comes from. What is the same
// bytes is kept; what differs from one that is not there any more in texts alone,
// and holds a call or a result, is that one, edited; all else is new.
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

// kept finds for each message of the view one that was given and is the same
// bytes; -1 = there is none. The order is that of the given ones as far as may
// be.
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
			k = 0 // it stands before what it came behind
		}
		from[i] = at[k]
		places[string(v)] = slices.Delete(slices.Clone(at), k, k+1)
		next = max(next, from[i]+1)
	}
	return from
}

// edited finds for messages that are not kept those that they were.
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

// isEdit reports whether two messages differ in texts alone.
func isEdit(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || !hasCall(x) {
		return false
	}
	return reflect.DeepEqual(blank("", x), blank("", y))
}

// texts are the members whose texts are cut and masked.
var textMembers = []string{"content", "text", "output", "result", "error", "stdout", "stderr"}

// blank returns a value without its texts. A function's response becomes an
// object with one text where it is masked.
func blank(name string, v any) any {
	switch v := v.(type) {
	case string:
		if slices.Contains(textMembers, name) {
			return ""
		}
	case []any:
		if slices.Contains(textMembers, name) {
			return "" // a list of texts may have become one
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
