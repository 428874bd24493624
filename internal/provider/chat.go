package provider

import (
	"fmt"
	"regexp"
	"strings"
)

var chatRules = rules{
	judge: judgeChat,
	issue: issueChat,
	parse: "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
}

var openaiPhrases = phrases{
	unknown: func(path, name string) string { return fmt.Sprintf("Unknown parameter: '%s'.", dotted(path, name)) },
	missing: func(path, name string) string {
		return fmt.Sprintf("Missing required parameter: '%s'.", dotted(path, name))
	},
	wrong: func(path, name string, want kind, got any) string {
		if want&text != 0 && kindOf(got) == null {
			return fmt.Sprintf("Invalid value for '%s': expected a string, got null.", name)
		}
		return fmt.Sprintf("Invalid type for '%s': expected %s, but got %s instead.", dotted(path, name), openaiKinds(want), openaiKind(got))
	},
}

func dotted(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func openaiKind(v any) string {
	return map[kind]string{text: "a string", list: "an array", dict: "an object", number: "an integer", flag: "a boolean", null: "null"}[kindOf(v)]
}

func openaiKinds(k kind) string {
	var one []string
	for _, c := range []struct {
		kind kind
		name string
	}{{text, "a string"}, {list, "an array"}, {dict, "an object"}, {number, "an integer"}, {flag, "a boolean"}, {null, "null"}} {
		if k&c.kind != 0 {
			one = append(one, c.name)
		}
	}
	if len(one) == 1 {
		return one[0]
	}
	return "one of " + strings.Join(one, " or ")
}

// chatMessages maps roles to shapes. reasoning_content, and extra_content of a
// call, are extensions of some servers of this wire.
var chatMessages = map[string]shape{
	"system":    {must("role", text), must("content", text|list), may("name", text)},
	"developer": {must("role", text), must("content", text|list), may("name", text)},
	"user":      {must("role", text), must("content", text|list), may("name", text)},
	"tool":      {must("role", text), must("content", text|list), must("tool_call_id", text), may("name", text)},
	"function":  {must("role", text), must("content", text|null), must("name", text)},
	"assistant": {must("role", text), may("content", text|list|null), may("name", text), may("refusal", text|null), may("audio", dict|null),
		may("annotations", list|null), may("tool_calls", list), may("function_call", dict), may("reasoning_content", text|null), may("phase", text)},
}

var (
	chatCall     = shape{must("id", text), must("type", text), may("function", dict), may("custom", dict), may("index", number), may("extra_content", dict)}
	chatFunction = shape{must("name", text), must("arguments", text)}
	chatParts    = map[string]shape{
		"text":        {must("type", text), must("text", text), may("cache_control", dict)},
		"refusal":     {must("type", text), must("refusal", text)},
		"image_url":   {must("type", text), must("image_url", dict)},
		"input_audio": {must("type", text), must("input_audio", dict)},
		"file":        {must("type", text), must("file", dict)},
	}
	chatPartsOf = map[string][]string{
		"system": {"text"}, "developer": {"text"}, "tool": {"text", "image_url", "file"}, "assistant": {"text", "refusal"},
		"user": {"text", "image_url", "input_audio", "file"},
	}
	chatName = regexp.MustCompile(`^[^\s<|\\/>]+$`)
	fnName   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

func judgeChat(j *Judge, r *report, body object) {
	if str(body, "model") == "" {
		r.add("model", "", "model", "you must provide a model parameter")
	}
	all, ok := body["messages"].([]any)
	if !ok {
		r.add("missing_field", ".messages", "", "Missing required parameter: 'messages'.")
		return
	}
	if len(all) == 0 {
		r.add("no_messages", "", "messages", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	msgs := objects(body["messages"])
	for i, m := range msgs {
		chatMessage(r, i, m)
	}
	chatPairs(r, msgs)
	if r.dialect = j.Dialects; r.dialect {
		chatDialects(j, r, msgs)
	}
}

func chatMessage(r *report, i int, m object) {
	path := fmt.Sprintf("messages[%d]", i)
	if m == nil {
		r.add("wrong_type", "message", path, fmt.Sprintf("Invalid type for '%s': expected an object.", path))
		return
	}
	role := str(m, "role")
	s, ok := chatMessages[role]
	if !ok {
		r.add("role", role, path+".role", fmt.Sprintf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role))
		return
	}
	owner := chatOwner(m)
	r.fits(openaiPhrases, s, m, owner, path)
	if name := str(m, "name"); name != "" && !chatName.MatchString(name) {
		r.add("name", name, path+".name", fmt.Sprintf("Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '%s'.", path, chatName))
	}
	chatContent(r, role, owner, path, m)
	if calls, ok := m["tool_calls"].([]any); ok {
		chatCalls(r, path, calls)
	}
}

// chatOwner returns a key that distinguishes a message from others: the id of the
// call that it answers, or of its first call, else its role.
func chatOwner(m object) string {
	if id := str(m, "tool_call_id"); id != "" {
		return id
	}
	for _, c := range objects(m["tool_calls"]) {
		return str(c, "id")
	}
	return str(m, "role")
}

func chatContent(r *report, role, owner, path string, m object) {
	switch c := m["content"].(type) {
	case nil:
		silent := m["tool_calls"] == nil && m["function_call"] == nil && m["refusal"] == nil && m["audio"] == nil
		if role == "assistant" && silent {
			r.add("no_content", owner, path+".content", "Invalid value for 'content': expected a string, got null.")
		}
	case []any:
		if len(c) == 0 {
			r.add("no_content", owner, path+".content", fmt.Sprintf("Invalid '%s.content': empty array. Expected an array with minimum length 1, but got an empty array instead.", path))
		}
		for k, p := range objects(c) {
			chatPart(r, role, owner, fmt.Sprintf("%s.content[%d]", path, k), p)
		}
	}
}

func chatPart(r *report, role, owner, path string, p object) {
	kind := str(p, "type")
	supported := chatPartsOf[role]
	for _, k := range supported {
		if k == kind {
			r.fits(openaiPhrases, chatParts[kind], p, owner, path)
			return
		}
	}
	r.add("part_type", owner+"."+kind, path+".type", fmt.Sprintf("Invalid value: '%s'. Supported values are: %s.", kind, quoted(supported)))
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = "'" + n + "'"
	}
	if len(q) < 2 {
		return strings.Join(q, "")
	}
	return strings.Join(q[:len(q)-1], ", ") + ", and " + q[len(q)-1]
}

func chatCalls(r *report, path string, calls []any) {
	if len(calls) == 0 {
		r.add("no_calls", "", path+".tool_calls", fmt.Sprintf("Invalid '%s.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", path))
	}
	for k, c := range objects(calls) {
		at, id := fmt.Sprintf("%s.tool_calls[%d]", path, k), str(c, "id")
		r.fits(openaiPhrases, chatCall, c, id, at)
		f, isFunction := c["function"].(object)
		switch {
		case str(c, "type") == "custom" && c["custom"] != nil:
		case !isFunction:
			r.add("missing_field", id+".function", at, openaiPhrases.missing(at, "function"))
		default:
			r.fits(openaiPhrases, chatFunction, f, id, at+".function")
			if name := str(f, "name"); name != "" && !fnName.MatchString(name) {
				r.add("function_name", id, at+".function.name", fmt.Sprintf("Invalid '%s.function.name': string does not match pattern. Expected a string that matches the pattern '%s'.", at, fnName))
			}
		}
	}
}
