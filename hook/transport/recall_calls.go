package transport

import "encoding/json"

// shownCall is a call of chat completions as a message has it.
type shownCall struct{ id, name, args string }

// showsCalls reports whether a conversation goes on with the calls of an answer, by their
// ids: some callers send calls back without the text beside them, and each of several
// as a message of its own, as their agents know calls and nothing else. Names and
// arguments must be the same, too: not every provider has ids that tell calls apart. With
// all, none of the calls may be missing in the first message.
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

// callsOf are the calls of the message that a list begins with.
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

// canonical is JSON without what says nothing; what is none stays as it is.
func canonical(args string) string {
	var v any
	if json.Unmarshal([]byte(args), &v) != nil {
		return args
	}
	return string(enc(v))
}
