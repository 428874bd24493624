package transport

import (
	"cmp"
	"encoding/json"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// geminiDialect is the dialect of Gemini and Vertex AI.
type geminiDialect struct{}

func (geminiDialect) list() string { return "contents" }

// functions returns the function declarations of a tool and their field. Gemini
// accepts two spellings of the field.
func functions(tool rawObject) (name string, declared []json.RawMessage) {
	for _, name := range []string{"functionDeclarations", "function_declarations"} {
		if raw := tool[name]; len(raw) > 0 && raw[0] == '[' { // the value may be null
			return name, list(raw)
		}
	}
	return "", nil
}

// declare adds the function to the existing declarations, because some models
// accept only one tool element. If there are only server tools, or the answer must be
// JSON, it declares nothing, because most models don't accept both.
func (geminiDialect) declare(body []byte) ([]byte, bool) {
	at, err := fields(body, "tools", "generationConfig", "generation_config")
	if err != nil {
		return body, false
	}
	tools := list(at["tools"].Of(body))
	last := -1
	for i, raw := range tools {
		name, declared := functions(obj(raw))
		for _, f := range declared {
			if text(obj(f)["name"]) == recallTool {
				return body, false
			}
		}
		if name != "" {
			last = i
		}
	}
	if len(tools) == 0 {
		return body, !wantsJSON(at["generationConfig"].Of(body)) && !wantsJSON(at["generation_config"].Of(body))
	}
	if last < 0 {
		return body, false
	}
	return geminiInsert(body, at["tools"], last)
}

// wantsJSON reports whether a generationConfig demands an answer that is not plain text.
func wantsJSON(config json.RawMessage) bool {
	o := obj(config)
	kind := cmp.Or(text(o["responseMimeType"]), text(o["response_mime_type"]))
	return kind != "" && kind != "text/plain"
}

func geminiInsert(body []byte, span jsonscan.Span, at int) ([]byte, bool) {
	name, _ := functions(obj(list(span.Of(body))[at]))
	var into jsonscan.Span
	err := jsonscan.Array(body, span, func(i int, e jsonscan.Span) error {
		if i != at {
			return nil
		}
		return jsonscan.Object(body, e, func(m jsonscan.Member) error {
			if m.Key == name {
				into = m.Value
			}
			return nil
		})
	})
	if err != nil || into.End == 0 {
		return body, false
	}
	return behind(body, into, list(obj(definition("gemini"))["functionDeclarations"])[0]), true
}

func (geminiDialect) only(body []byte) ([]byte, error) {
	return onlyTool(body, enc([]json.RawMessage{definition("gemini")}))
}

// candidate returns the parts of the first candidate of a chunk, and the number
// of candidates.
func candidate(o rawObject) (parts []json.RawMessage, n int) {
	all := list(o["candidates"])
	if len(all) == 0 {
		return nil, 0
	}
	return list(obj(obj(all[0])["content"])["parts"]), len(all)
}

func (geminiDialect) read(p *pieces) (*said, bool) {
	var parts []json.RawMessage
	ok, finish := false, ""
	for _, e := range p.list {
		o := e.read()
		more, n := candidate(o)
		switch n {
		case 0:
			continue
		case 1:
			ok, parts = true, append(parts, more...)
			finish = cmp.Or(text(obj(list(o["candidates"])[0])["finishReason"]), finish)
		default:
			return nil, false
		}
	}
	s := geminiSaid(parts)
	s.cut = isCut(finish)
	return s, ok
}

// signatureField holds the signature of a part.
const signatureField = "thoughtSignature"

func geminiSaid(parts []json.RawMessage) *said {
	s := &said{}
	var whole, shown []json.RawMessage
	calls := 0
	for i, raw := range parts {
		part := obj(raw)
		if text(part["text"]) == "" && part["text"] != nil && part[signatureField] == nil {
			continue // the provider refuses an empty text
		}
		whole = append(whole, raw)
		if call := obj(part["functionCall"]); call != nil {
			calls++
			if text(call["name"]) == recallTool {
				args := call["args"]
				if args == nil {
					args = json.RawMessage("{}")
				}
				s.ours = append(s.ours, recallCall{id: text(call["id"]), args: args, at: i})
				continue
			}
			s.others++
		}
		shown = append(shown, raw)
	}
	s.whole, s.shown = geminiElement("model", whole), geminiElement("model", shown)
	return s
}

func geminiElement(role string, parts []json.RawMessage) []json.RawMessage {
	return []json.RawMessage{enc(map[string]any{"role": role, "parts": parts})}
}

func (geminiDialect) results(s *said, texts []string) (out []json.RawMessage) {
	for i, c := range s.ours {
		response := map[string]any{"name": recallTool, "response": map[string]any{"output": texts[i]}}
		if c.id != "" {
			response["id"] = c.id
		}
		out = append(out, enc(map[string]any{"functionResponse": response}))
	}
	return out
}

func (d geminiDialect) round(s *said, texts []string) []json.RawMessage {
	return append(append([]json.RawMessage(nil), s.whole...), geminiElement("user", d.results(s, texts))...)
}

// join puts the recall results before the other results. Without ids, results are
// matched to calls by name and order.
func (d geminiDialect) join(elems []json.RawMessage, n int, b *beside) ([]json.RawMessage, bool) {
	if n+1 >= len(elems) {
		return nil, false
	}
	theirs := obj(elems[n+1])
	parts := list(theirs["parts"])
	if len(parts) == 0 || obj(parts[0])["functionResponse"] == nil {
		return nil, false
	}
	theirs["parts"] = enc(append(d.results(b.said, b.texts), parts...))
	whole, ok := withCallsOf(elems[n], b.said.whole[0], geminiCalls)
	if !ok {
		return nil, false
	}
	out := append(append([]json.RawMessage(nil), elems[:n]...), whole)
	return append(append(out, enc(theirs)), elems[n+2:]...), true
}

// strip removes the recall calls. The first call of a step carries the signature
// for the whole step, so the signature moves to the next call without one.
func (geminiDialect) strip(p *pieces, _ *said) {
	var signature json.RawMessage
	for _, e := range p.list {
		o := e.read()
		parts, n := candidate(o)
		if n == 0 {
			continue
		}
		kept, same := []json.RawMessage{}, true
		for _, raw := range parts {
			part := obj(raw)
			call := obj(part["functionCall"])
			switch {
			case call != nil && text(call["name"]) == recallTool:
				same = false
				if part[signatureField] != nil {
					signature = part[signatureField]
				}
				continue
			case call != nil && signature != nil && part[signatureField] == nil:
				part[signatureField], signature = signature, nil
				raw, same = enc(part), false
			}
			kept = append(kept, raw)
		}
		if same {
			continue
		}
		choice := obj(list(o["candidates"])[0])
		content := obj(choice["content"])
		content["parts"] = enc(kept)
		choice["content"] = enc(content)
		o["candidates"] = enc([]rawObject{choice})
		e.write(o)
	}
}
