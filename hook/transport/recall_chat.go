package transport

import (
	"cmp"
	"encoding/json"

	"github.com/agentcompact/compact/compact"
)

// definition returns the declaration of the recall tool for a wire.
func definition(wire string) json.RawMessage {
	raw, err := compact.RecallTool(nil).For(wire)
	if err != nil {
		return nil
	}
	return raw
}

// chatDialect is the dialect of OpenAI's chat completions.
type chatDialect struct{}

func (chatDialect) list() string { return "messages" }

func (chatDialect) declare(body []byte) ([]byte, bool) {
	return declareAmong(body, definition("openai"), func(t rawObject) string { return text(obj(t["function"])["name"]) })
}

func (chatDialect) only(body []byte) ([]byte, error) {
	return onlyTool(body, enc([]json.RawMessage{definition("openai")}))
}

func (chatDialect) read(p *pieces) (*said, bool) {
	message, finish := map[string]any{}, ""
	for _, e := range p.list {
		o := e.read()
		if o == nil {
			continue
		}
		choices := list(o["choices"])
		if len(choices) > 1 {
			return nil, false
		}
		for _, c := range choices {
			choice := obj(c)
			if indexOf(choice["index"]) > 0 {
				return nil, false
			}
			finish = cmp.Or(text(choice["finish_reason"]), finish)
			for _, name := range []string{"message", "delta"} {
				var part map[string]any
				if json.Unmarshal(choice[name], &part) == nil {
					merge(message, part)
				}
			}
		}
	}
	ok := len(message) > 0
	s := chatSaid(message)
	s.cut = isCut(finish)
	return s, ok
}

// merge adds a part of a streamed message to the parts before it.
func merge(into, part map[string]any) {
	for key, v := range part {
		old, there := into[key]
		switch v := v.(type) {
		case nil:
		case string:
			if was, ok := old.(string); ok && !fixed(key, was, v) {
				v = was + v
			} else if ok && v == "" {
				v = was
			}
			into[key] = v
		case map[string]any:
			if was, ok := old.(map[string]any); ok {
				merge(was, v)
			} else {
				into[key] = v
			}
		case []any:
			was, _ := old.([]any)
			into[key] = mergeList(was, v)
		default:
			if !there || key != "index" {
				into[key] = v
			}
		}
	}
}

// fixed reports whether a field is repeated in each part, rather than
// continued.
func fixed(key, was, is string) bool {
	switch key {
	case "id", "type", "role":
		return true
	case "name":
		return was == is
	}
	return false
}

// mergeList merges elements with the elements of the same index.
func mergeList(into, more []any) []any {
	for _, m := range more {
		part, ok := m.(map[string]any)
		if !ok {
			into = append(into, m)
			continue
		}
		found := false
		for _, old := range into {
			was, ok := old.(map[string]any)
			if ok && part["index"] != nil && was["index"] == part["index"] {
				merge(was, part)
				found = true
				break
			}
		}
		if !found {
			into = append(into, part)
		}
	}
	return into
}

// chatSaid reads a message. It removes the fields that are not sent back to the
// model: annotations, refusal, audio and function_call.
func chatSaid(message map[string]any) *said {
	s := &said{}
	for _, name := range []string{"annotations", "refusal", "audio", "function_call"} {
		delete(message, name)
	}
	message["role"] = "assistant"
	if _, ok := message["content"]; !ok {
		message["content"] = nil
	}
	calls, _ := message["tool_calls"].([]any)
	var others []any
	for i, c := range calls {
		call, _ := c.(map[string]any)
		delete(call, "index")
		f, _ := call["function"].(map[string]any)
		id, _ := call["id"].(string)
		if name, _ := f["name"].(string); name != recallTool {
			others = append(others, c)
			continue
		}
		args, _ := f["arguments"].(string)
		s.ours = append(s.ours, recallCall{id: id, args: json.RawMessage(args), at: i})
	}
	s.others = len(others)
	s.whole = []json.RawMessage{enc(message)}
	if delete(message, "tool_calls"); len(others) > 0 {
		message["tool_calls"] = others
	}
	s.shown = []json.RawMessage{enc(message)}
	return s
}

func (chatDialect) results(s *said, texts []string) (out []json.RawMessage) {
	for i, c := range s.ours {
		out = append(out, enc(map[string]any{"role": "tool", "tool_call_id": c.id, "content": texts[i]}))
	}
	return out
}

func (d chatDialect) round(s *said, texts []string) []json.RawMessage {
	return append(append([]json.RawMessage(nil), s.whole...), d.results(s, texts)...)
}

func (d chatDialect) join(elems []json.RawMessage, n int, b *beside) ([]json.RawMessage, bool) {
	whole, ok := withCallsOf(elems[n], b.said.whole[0], chatCalls)
	if !ok {
		return nil, false
	}
	out := append(append([]json.RawMessage(nil), elems[:n]...), whole)
	return append(append(out, d.results(b.said, b.texts)...), elems[n+1:]...), true
}

func (chatDialect) strip(p *pieces, s *said) {
	for _, e := range p.list {
		o := e.read()
		choices := list(o["choices"])
		if len(choices) == 0 {
			continue
		}
		choice := obj(choices[0])
		for _, name := range []string{"message", "delta"} {
			part := obj(choice[name])
			if part["tool_calls"] == nil {
				continue
			}
			if kept := chatOthers(s, list(part["tool_calls"])); len(kept) > 0 {
				part["tool_calls"] = enc(kept)
			} else {
				delete(part, "tool_calls")
			}
			choice[name] = enc(part)
		}
		if s.others == 0 && text(choice["finish_reason"]) == "tool_calls" {
			choice["finish_reason"] = enc("stop")
		}
		o["choices"] = enc([]rawObject{choice})
		e.write(o)
	}
}

// chatOthers returns the calls without the recall calls, renumbered.
func chatOthers(s *said, calls []json.RawMessage) (kept []rawObject) {
	for i, raw := range calls {
		call := obj(raw)
		at := indexOf(call["index"])
		if at < 0 {
			at = i
		}
		before, ours := 0, false
		for _, c := range s.ours {
			ours = ours || c.at == at
			if c.at < at {
				before++
			}
		}
		if ours {
			continue
		}
		if call["index"] != nil {
			call["index"] = enc(at - before)
		}
		kept = append(kept, call)
	}
	return kept
}
