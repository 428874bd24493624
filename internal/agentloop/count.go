package agentloop

import "encoding/json"

// count counts the tokens of a request's body. The result is never less than the count
// of a provider: every text, four tokens for each message or item, and the tools with
// all their JSON. Names of members and ids of the wire are not part of a prompt. In a
// history of a thousand small items they are a fifth of the body.
func count(body []byte) int {
	var request map[string]json.RawMessage
	if json.Unmarshal(body, &request) != nil {
		return exact().Count(string(body))
	}
	n := 0
	for name, raw := range request {
		if name == "tools" {
			n += exact().Count(string(raw))
			continue
		}
		var v any
		if json.Unmarshal(raw, &v) == nil {
			n += texts(name, v)
		}
	}
	return n
}

// texts counts the texts of a value; name is the member's name.
func texts(name string, v any) (n int) {
	switch v := v.(type) {
	case string:
		switch name {
		case "id", "type", "status", "model", "object":
			return 0
		}
		return exact().Count(v)
	case []any:
		for _, e := range v {
			n += texts(name, e)
		}
	case map[string]any:
		n = 4
		for name, e := range v {
			n += texts(name, e)
		}
	}
	return n
}
