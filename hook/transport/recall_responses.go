package transport

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
)

// responsesDialect is the dialect of OpenAI's Responses API.
type responsesDialect struct{}

func (responsesDialect) list() string { return "input" }

// declare does not declare the tool in a background request, because the caller fetches its answer
// later, without this package, and the calls in it would not be answered. It does not declare the
// tool in a request without an input either, because that has no place for a round.
func (responsesDialect) declare(body []byte) ([]byte, bool) {
	at, err := fields(body, "background", "input")
	if err != nil || string(at["background"].Of(body)) == "true" || isNone(at["input"].Of(body)) {
		return body, false
	}
	return declareAmong(body, definition("responses"), func(t rawObject) string { return text(t["name"]) })
}

func (responsesDialect) only(body []byte) ([]byte, error) {
	return onlyTool(body, enc([]json.RawMessage{definition("responses")}))
}

func (responsesDialect) read(p *pieces) (*said, bool) {
	done := map[int]json.RawMessage{}
	var output []json.RawMessage
	id, ok, cut, unstored := "", false, false, false
	for _, e := range p.list {
		o := e.read()
		switch kind := text(o["type"]); {
		case kind == "response.output_item.done":
			done[indexOf(o["output_index"])] = o["item"]
		case isStoredEnd(kind):
			r := obj(o["response"])
			id, output, ok, cut = text(r["id"]), list(r["output"]), true, kind == "response.incomplete"
			unstored = string(r["store"]) == "false"
		case kind == "" && text(o["object"]) == "response":
			id, output, cut = text(o["id"]), list(o["output"]), text(o["status"]) == "incomplete"
			ok, unstored = cut || text(o["status"]) == "completed", string(o["store"]) == "false"
		}
	}
	if len(output) == 0 { // some servers leave output empty in the last event of a stream
		for _, at := range slices.Sorted(mapsKeys(done)) {
			output = append(output, done[at])
		}
	}
	s := responsesSaid(output)
	s.id, s.cut, s.unknown = id, cut, unstored && s.isOpen()
	return s, ok
}

// isStoredEnd reports whether an event ends an answer that the provider stores.
func isStoredEnd(kind string) bool {
	return kind == "response.completed" || kind == "response.incomplete"
}

func mapsKeys(m map[int]json.RawMessage) func(func(int) bool) {
	return func(yield func(int) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func responsesSaid(output []json.RawMessage) *said {
	s := &said{}
	for i, raw := range output {
		item := obj(raw)
		delete(item, "status")
		s.whole = append(s.whole, enc(item))
		switch {
		case text(item["type"]) == "function_call" && text(item["name"]) == recallTool:
			s.ours = append(s.ours, recallCall{id: text(item["call_id"]), args: json.RawMessage(text(item["arguments"])), at: i})
			continue
		case isCallItem(item):
			s.others++
		}
		s.shown = append(s.shown, enc(item))
	}
	return s
}

// isCallItem reports whether an item is a call that the caller must answer.
func isCallItem(item rawObject) bool {
	switch text(item["type"]) {
	case "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call", "mcp_approval_request":
		return true
	case "tool_search_call":
		return text(item["execution"]) == "client"
	}
	return false
}

func (responsesDialect) results(s *said, texts []string) (out []json.RawMessage) {
	for i, c := range s.ours {
		out = append(out, enc(map[string]any{"type": "function_call_output", "call_id": c.id, "output": texts[i]}))
	}
	return out
}

func (d responsesDialect) round(s *said, texts []string) []json.RawMessage {
	return append(s.sendable(), d.results(s, texts)...)
}

// join puts each recall call back at the place among the caller's items at
// which the model made it, because the provider refuses a call that does not
// follow its reasoning. The results of the recall calls follow after all of
// these items.
func (d responsesDialect) join(elems []json.RawMessage, n int, b *beside) ([]json.RawMessage, bool) {
	end := n
	for end < len(elems) && !isReturned(obj(elems[end])) {
		end++
	}
	shown := elems[n:end]
	if !slices.ContainsFunc(shown, func(e json.RawMessage) bool { return isCallItem(obj(e)) }) {
		return nil, false
	}
	out := append([]json.RawMessage(nil), elems[:n]...)
	bound := b.said.boundReasoning()
	for i, item := range b.said.whole {
		switch {
		case b.said.isOurs(i):
			out = append(out, b.said.item(i))
		case bound[i]:
			if len(shown) > 0 && isSame(shown[0], item) {
				shown = shown[1:]
			}
			if !b.said.unknown {
				out = append(out, item)
			}
		case isReasoning(item):
			if len(shown) > 0 && isReasoning(shown[0]) { // a recall call can follow it directly
				out, shown = append(out, shown[0]), shown[1:]
			}
		default:
			k := slices.IndexFunc(shown, func(e json.RawMessage) bool { return !isReasoning(e) })
			out = append(out, shown[:k+1]...)
			shown = shown[k+1:]
		}
	}
	out = append(append(out, shown...), d.results(b.said, b.texts)...)
	return append(out, elems[end:]...), true
}

// isReturned reports whether an item was made by the caller, not by the model.
func isReturned(item rawObject) bool {
	kind, role := text(item["type"]), text(item["role"])
	return strings.HasSuffix(kind, "_output") || kind == "mcp_approval_response" || role != "" && role != "assistant"
}

// isReasoning reports whether an item is reasoning, which not every caller
// sends back.
func isReasoning(item json.RawMessage) bool { return text(obj(item)["type"]) == "reasoning" }

// boundReasoning returns the positions of reasoning that led to a recall call. The caller does not
// get such reasoning unchanged, even if there are other calls, because the provider ties reasoning
// to the item directly after it.
func (s *said) boundReasoning() map[int]bool {
	at := s.bound(func(at int) bool { return at < len(s.whole) && isReasoning(s.whole[at]) })
	maps.DeleteFunc(at, func(_ int, led bool) bool { return !led })
	return at
}

// isSame reports whether two items have the same id.
func isSame(a, b json.RawMessage) bool {
	id := text(obj(a)["id"])
	return id != "" && id == text(obj(b)["id"])
}

// isOurs reports whether the item at index at of an answer is a recall call.
func (s *said) isOurs(at int) bool {
	return slices.ContainsFunc(s.ours, func(c recallCall) bool { return c.at == at })
}

func (responsesDialect) strip(p *pieces, s *said) {
	ours := s.positions()
	sequence := 0
	for _, e := range p.list {
		o := e.read()
		if o == nil {
			continue
		}
		if at := indexOf(o["output_index"]); at >= 0 {
			if e.dropped = ours[at]; e.dropped {
				continue
			}
			o["output_index"] = enc(at - countBelow(ours, at))
		}
		if r := obj(o["response"]); r != nil {
			o["response"] = enc(withoutItems(r, ours))
		} else if text(o["object"]) == "response" {
			o = withoutItems(o, s.hidden())
		}
		if o["sequence_number"] != nil {
			o["sequence_number"] = enc(sequence)
			sequence++
		}
		e.write(o)
	}
}

func withoutItems(response rawObject, ours map[int]bool) rawObject {
	kept := []json.RawMessage{}
	for i, item := range list(response["output"]) {
		if !ours[i] {
			kept = append(kept, item)
		}
	}
	if response["output"] != nil {
		response["output"] = enc(kept)
	}
	return response
}

// hasToolItems reports whether tools are declared as items of the conversation.
// Whether a provider accepts a list of tools besides them is not documented.
func hasToolItems(msgs []message.Message) bool {
	return slices.ContainsFunc(msgs, func(m message.Message) bool { return m.Role == "additional_tools" })
}
