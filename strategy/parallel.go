package strategy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// callLists are arguments with several calls, of tools that only make other calls at once.
var callLists = []string{"tool_uses", "tool_calls", "invocations", "calls"}

// innerPrefix precedes the name of a function in a list of calls.
const innerPrefix = "functions."

// innerCalls returns the calls that the arguments of a call list, nil if they list none.
func innerCalls(data []byte) []Call {
	var members map[string]json.RawMessage
	if !listsCalls(data) || json.Unmarshal(data, &members) != nil || len(members) > 2 {
		return nil
	}
	var list []json.RawMessage
	for _, key := range callLists {
		if list == nil && json.Unmarshal(members[key], &list) != nil {
			list = nil
		}
	}
	var out []Call
	for _, one := range list {
		name, args := jsonAction(one, 1)
		if text := ""; json.Unmarshal(args, &text) == nil {
			args = json.RawMessage(text)
		}
		if name == "" || len(args) == 0 || args[0] != '{' {
			return nil
		}
		out = append(out, readOne(strings.TrimPrefix(name, innerPrefix), args))
	}
	return out
}

// hold makes a call that lists other calls one without a command and files of its own: only an
// inner call has them.
func (c *Call) hold() {
	for i := range c.Args {
		c.Args[i] = Arg{"calls", strings.TrimPrefix(c.Args[i].Value, innerPrefix)}
	}
}

// partInner gives the inner calls of a call their results. The first takes its place, and the others
// follow the calls of its message. If the result has no part for each of them, the call stays.
func (b *reader) partInner(s *Step, at int, args []byte) {
	inner := innerCalls(args)
	if len(inner) < 2 {
		return
	}
	parts := resultParts(s.Calls[at].Result)
	if len(parts) != len(inner) {
		return
	}
	for i := range inner {
		inner[i].Result, inner[i].Answered = output(parts[i]), true
		b.h.index.addName(inner[i].Tool, s.ID)
	}
	s.Calls[at] = inner[0]
	s.Calls = append(s.Calls, inner[1:]...)
}

// resultLists are members with the results of several calls.
var resultLists = []string{"results", "outputs", "responses", "tool_results"}

// resultMembers are members with the result of one call.
var resultMembers = []string{"result", "output", "content", "response", "text"}

// resultParts returns the elements of a result that is a list in JSON, or has one.
func resultParts(result string) (out []string) {
	data := []byte(strings.TrimSpace(result))
	var members map[string]json.RawMessage
	if bytes.HasPrefix(data, []byte("{")) && json.Unmarshal(data, &members) == nil {
		for _, key := range resultLists {
			if list := members[key]; list != nil {
				data = list
			}
		}
	}
	var list []json.RawMessage
	if !bytes.HasPrefix(data, []byte("[")) || json.Unmarshal(data, &list) != nil {
		return nil
	}
	for _, one := range list {
		out = append(out, resultPart(one))
	}
	return out
}

// resultPart returns the text of the result of one call in a list.
func resultPart(data json.RawMessage) string {
	text := ""
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return string(data)
	}
	for _, key := range resultMembers {
		if json.Unmarshal(members[key], &text) != nil || text == "" {
			continue
		}
		if failed := string(members["is_error"]) + string(members["isError"]); failed == "true" && !errorResult(text) {
			return "Error: " + text
		}
		return text
	}
	return string(data)
}

// listsCalls reports whether arguments can have a list of calls.
func listsCalls(data []byte) bool {
	return slices.ContainsFunc(callLists, func(key string) bool { return bytes.Contains(data, []byte(`"`+key+`"`)) })
}
