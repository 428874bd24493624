package transport

import "encoding/json"

// shownCall is a tool call in a message of chat completions.
type shownCall struct{ id, name, args string }

// showsCalls reports whether elems begins with the calls of an answer. Some callers send
// back only the calls of an answer, without its text, and each call in its own message.
// Ids, names and arguments must be equal, because the ids of some providers are not
// unique. With all, the first message must hold every call.
func showsCalls(elems, said []json.RawMessage, all bool) bool {
	want, got := callsOf(said), callsOf(elems)
	if len(got) == 0 || len(got) > len(want) || all && len(got) < len(want) {
		return false
	}
	for i, c := range got {
		if c.id == "" || c != want[i] {
			return false
		}
	}
	words := obj(elems[0])["content"]
	return text(words) == "" && len(list(words)) == 0
}

// callsOf returns the calls of the first message in a list.
func callsOf(elems []json.RawMessage) (calls []shownCall) {
	if len(elems) == 0 {
		return nil
	}
	for _, raw := range list(obj(elems[0])["tool_calls"]) {
		call := obj(raw)
		f := obj(call["function"])
		calls = append(calls, shownCall{text(call["id"]), text(f["name"]), canonical(text(f["arguments"]))})
	}
	return calls
}

// canonical returns JSON in one canonical form, and any other text unchanged.
func canonical(args string) string {
	var v any
	if json.Unmarshal([]byte(args), &v) != nil {
		return args
	}
	return string(enc(v))
}
