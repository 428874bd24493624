package transport

import (
	"bytes"
	"encoding/json"
)

// withCallsOf returns answer, a remembered element of a conversation. Where the ids of its calls
// differ from those in theirs, the caller's form of the element, it takes the calls of theirs,
// because the results that follow refer to the caller's ids. The ids differ if the caller replaces
// ids, or if it continues with the answer that the same request got from another process. field
// holds the calls. It returns false if the number of calls differs.
func withCallsOf(theirs, answer json.RawMessage, field string) (json.RawMessage, bool) {
	calls := callsIn(list(obj(theirs)[field]), field)
	o, same := obj(answer), true
	parts := list(o[field])
	own := callsIn(parts, field)
	if len(own) != len(calls) {
		return nil, false
	}
	for i := range own {
		if !bytes.Equal(own[i].id, calls[i].id) {
			parts[own[i].at], same = calls[i].raw, false
		}
	}
	if same {
		return answer, true
	}
	o[field] = enc(parts)
	return enc(o), true
}

// The fields of an element that hold calls, by wire.
const (
	anthropicCalls = "content"
	chatCalls      = "tool_calls"
	geminiCalls    = "parts"
)

// callPart is a call of one of the caller's tools, among the parts of an element.
type callPart struct {
	at  int
	raw json.RawMessage
	id  json.RawMessage // nil = none
}

func callsIn(parts []json.RawMessage, field string) (calls []callPart) {
	for i, raw := range parts {
		part := obj(raw)
		call, name := part, part["name"]
		switch field {
		case anthropicCalls:
			if text(part["type"]) != "tool_use" {
				continue
			}
		case chatCalls:
			name = obj(part["function"])["name"]
		case geminiCalls:
			if call = obj(part["functionCall"]); call == nil {
				continue
			}
			name = call["name"]
		}
		if text(name) != recallTool {
			calls = append(calls, callPart{i, raw, call["id"]})
		}
	}
	return calls
}
