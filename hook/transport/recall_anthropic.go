package transport

import (
	"cmp"
	"encoding/json"
	"strings"
)

// anthropicDialect is the dialect of Anthropic's Messages API.
type anthropicDialect struct{}

func (anthropicDialect) list() string { return "messages" }

func (anthropicDialect) declare(body []byte) ([]byte, bool) {
	return declareAmong(body, definition("anthropic"), func(t rawObject) string { return text(t["name"]) })
}

func (anthropicDialect) only(body []byte) ([]byte, error) {
	return onlyTool(body, enc([]json.RawMessage{definition("anthropic")}))
}

func (anthropicDialect) read(p *pieces) (*said, bool) {
	var blocks []rawObject
	ok, container, stop := false, "", ""
	for _, e := range p.list {
		o := e.read()
		container = cmp.Or(containerOf(o), container)
		stop = cmp.Or(text(o["stop_reason"]), text(obj(o["delta"])["stop_reason"]), stop)
		switch text(o["type"]) {
		case "message":
			ok = true
			for _, b := range list(o["content"]) {
				blocks = append(blocks, obj(b))
			}
		case "message_start":
			ok = true
		case "content_block_start":
			block := obj(o["content_block"])
			if block == nil {
				return nil, false // no block that could be sent back
			}
			blocks = append(blocks, block)
		case "content_block_delta":
			if at := indexOf(o["index"]); at >= 0 && at < len(blocks) {
				addDelta(blocks[at], obj(o["delta"]))
			}
		case "error":
			return nil, false
		}
	}
	s := anthropicSaid(blocks)
	s.container, s.cut = container, isCut(stop)
	return s, ok
}

// partial is the member in which the pieces of a call's input are collected.
const partial = "\x00partial"

func addDelta(block, delta rawObject) {
	grow := func(field string, by json.RawMessage) { block[field] = enc(text(block[field]) + text(by)) }
	switch text(delta["type"]) {
	case "text_delta":
		grow("text", delta["text"])
	case "thinking_delta":
		grow("thinking", delta["thinking"])
	case "signature_delta":
		grow("signature", delta["signature"])
	case "input_json_delta":
		grow(partial, delta["partial_json"])
	case "citations_delta":
		block["citations"] = enc(append(list(block["citations"]), delta["citation"]))
	}
}

func anthropicSaid(blocks []rawObject) *said {
	s := &said{}
	var whole, shown []rawObject
	for i, b := range blocks {
		if input, ok := b[partial]; ok {
			delete(b, partial)
			if b["input"] = json.RawMessage(text(input)); !json.Valid(b["input"]) {
				b["input"] = json.RawMessage("{}")
			}
		}
		if text(b["type"]) == "text" && strings.TrimSpace(text(b["text"])) == "" {
			continue // the provider refuses an empty text
		}
		whole = append(whole, b)
		switch {
		case text(b["type"]) != "tool_use":
		case text(b["name"]) == recallTool:
			s.ours = append(s.ours, recallCall{id: text(b["id"]), args: b["input"], at: i})
			continue
		default:
			s.others++
		}
		shown = append(shown, b)
	}
	s.whole, s.shown = anthropicElement(whole), anthropicElement(shown)
	return s
}

func anthropicElement(blocks []rawObject) []json.RawMessage {
	return []json.RawMessage{enc(map[string]any{"role": "assistant", "content": blocks})}
}

func (anthropicDialect) results(s *said, texts []string) (out []json.RawMessage) {
	for i, c := range s.ours {
		out = append(out, enc(map[string]any{"type": "tool_result", "tool_use_id": c.id, "content": texts[i]}))
	}
	return out
}

func (d anthropicDialect) round(s *said, texts []string) []json.RawMessage {
	return append(append([]json.RawMessage(nil), s.whole...), enc(map[string]any{"role": "user", "content": d.results(s, texts)}))
}

func (d anthropicDialect) join(elems []json.RawMessage, n int, b *beside) ([]json.RawMessage, bool) {
	if n+1 >= len(elems) {
		return nil, false
	}
	results := obj(elems[n+1])
	blocks := list(results["content"])
	if len(blocks) == 0 || text(obj(blocks[0])["type"]) != "tool_result" {
		return nil, false
	}
	results["content"] = enc(append(d.results(b.said, b.texts), blocks...))
	whole, ok := withCallsOf(elems[n], b.said.whole[0], anthropicCalls)
	if !ok {
		return nil, false
	}
	out := append(append([]json.RawMessage(nil), elems[:n]...), whole)
	return append(append(out, enc(results)), elems[n+2:]...), true
}

func (anthropicDialect) strip(p *pieces, s *said) {
	ours := s.positions()
	for _, e := range p.list {
		o := e.read()
		changed := true
		switch text(o["type"]) {
		case "message":
			var kept []json.RawMessage
			blocks := list(o["content"])
			gone := s.alone(func(at int) bool { return isThinking(obj(blocks[at])) })
			for i, b := range blocks {
				if !gone[i] {
					kept = append(kept, b)
				}
			}
			o["content"] = enc(append([]json.RawMessage{}, kept...))
			endTurn(o, s)
		case "content_block_start", "content_block_delta", "content_block_stop":
			at := indexOf(o["index"])
			e.dropped = ours[at]
			o["index"] = enc(at - countBelow(ours, at))
		case "message_delta":
			delta := obj(o["delta"])
			endTurn(delta, s)
			o["delta"] = enc(delta)
		default:
			changed = false
		}
		if changed && !e.dropped {
			e.write(o)
		}
	}
}

// endTurn replaces the stop reason tool_use by end_turn if no call is left.
func endTurn(o rawObject, s *said) {
	if s.others == 0 && text(o["stop_reason"]) == "tool_use" {
		o["stop_reason"] = enc("end_turn")
	}
}

func countBelow(set map[int]bool, at int) (n int) {
	for i := range set {
		if i < at {
			n++
		}
	}
	return n
}
