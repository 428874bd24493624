package transport

import (
	"encoding/json"
	"slices"
)

func isThinking(block rawObject) bool {
	kind := text(block["type"])
	return kind == "thinking" || kind == "redacted_thinking"
}

func (anthropicDialect) scan(f *flow, o rawObject) {
	switch text(o["type"]) {
	case "content_block_start":
		block := obj(o["content_block"])
		switch text(block["type"]) {
		case "tool_use":
			f.call(indexOf(o["index"]), text(block["name"]))
			f.bound = false
		case "redacted_thinking":
			f.bound = true
		case "thinking":
		default:
			f.bound = false
		}
	case "content_block_delta":
		f.bound = f.bound || text(obj(o["delta"])["type"]) == "signature_delta"
	case "message_delta", "error":
		f.bound = false
	case "message_stop":
		f.bound, f.whole = false, true
	}
}

// bind leaves the thinking of an answer with other calls as it is: the provider requires it
// before any call.
func (anthropicDialect) bind(p *pieces, s *said) {
	if s.others > 0 {
		return
	}
	thinking := map[int]bool{}
	for _, e := range p.list {
		if o := e.read(); text(o["type"]) == "content_block_start" {
			thinking[indexOf(o["index"])] = isThinking(obj(o["content_block"]))
		}
	}
	bound := s.bound(func(at int) bool { return thinking[at] })
	for _, e := range p.list {
		o := e.read()
		if !bound[indexOf(o["index"])] {
			continue
		}
		for _, name := range []string{"content_block", "delta"} {
			if part := obj(o[name]); markBlock(part) {
				o[name] = enc(part)
				e.write(o)
			}
		}
	}
}

// markBlock replaces the signature of a thinking block by boundSeal.
func markBlock(part rawObject) bool {
	switch text(part["type"]) {
	case "signature_delta":
		part["signature"] = enc(boundSeal)
	case "redacted_thinking":
		part["data"] = enc(boundSeal)
	default:
		return false
	}
	return true
}

func (anthropicDialect) unbind(elem json.RawMessage) json.RawMessage {
	message := obj(elem)
	blocks := list(message["content"])
	kept := slices.DeleteFunc(slices.Clone(blocks), func(raw json.RawMessage) bool {
		b := obj(raw)
		return isThinking(b) && (text(b["signature"]) == boundSeal || text(b["data"]) == boundSeal)
	})
	switch len(kept) {
	case len(blocks):
		return elem
	case 0:
		return nil
	}
	message["content"] = enc(kept)
	return enc(message)
}

func (anthropicDialect) unend(e *piece) {
	switch text(e.read()["type"]) {
	case "message_delta", "message_stop":
		e.dropped = true
	}
}

func (anthropicDialect) note(j *joint, p *pieces) {
	blocks := 0
	for _, e := range p.list {
		switch o := e.read(); text(o["type"]) {
		case "content_block_start":
			blocks++
		case "message_delta":
			j.output += max(indexOf(obj(o["usage"])["output_tokens"]), 0)
		}
	}
	j.index += blocks
}

func (anthropicDialect) follow(j *joint, e *piece) {
	o := e.read()
	switch text(o["type"]) {
	case "message_start":
		e.dropped = true
		j.prompt = obj(obj(o["message"])["usage"])
	case "content_block_start", "content_block_delta", "content_block_stop":
		o["index"] = enc(indexOf(o["index"]) + j.index)
		e.write(o)
	case "message_delta":
		usage := obj(o["usage"])
		if usage == nil {
			usage = rawObject{}
		}
		for _, name := range []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"} {
			if usage[name] == nil && j.prompt[name] != nil {
				usage[name] = j.prompt[name]
			}
		}
		j.addTo(usage, "output_tokens")
		o["usage"] = enc(usage)
		e.write(o)
	}
}

func (anthropicDialect) failure(_ *joint, o rawObject, _ string) string {
	o["type"] = enc("error")
	return "error"
}

func (anthropicDialect) merge(first, second []json.RawMessage) []json.RawMessage {
	return mergeField(anthropicCalls, first, second)
}

func (anthropicDialect) cut(elems []json.RawMessage, at int, r *round) ([]json.RawMessage, bool) {
	return cutField(anthropicCalls, elems, at, r)
}

// mergeField merges the parts of two answers, of one element each.
func mergeField(field string, first, second []json.RawMessage) []json.RawMessage {
	if len(first) == 0 {
		return second
	}
	one := obj(first[0])
	one[field] = enc(append(list(one[field]), list(obj(second[0])[field])...))
	return []json.RawMessage{enc(one)}
}

// cutField removes the parts of the earlier answers. It keeps the caller's form
// of the last answer's parts if the caller did not join them.
func cutField(field string, elems []json.RawMessage, at int, r *round) ([]json.RawMessage, bool) {
	last := list(obj(r.said[0])[field])
	if len(last) == 0 || digestOf(elems[at:at+1]) != digestOf(mergeField(field, r.prior, r.said)) {
		return nil, false
	}
	elem := obj(elems[at])
	parts := list(elem[field])
	if len(parts) > len(last) {
		elem[field] = enc(parts[len(parts)-len(last):])
		if own := enc(elem); digestOf([]json.RawMessage{own}) == digestOf(r.said) {
			return slices.Concat(elems[:at:at], []json.RawMessage{own}, elems[at+1:]), true
		}
	}
	rest, ok := withCallsOf(elems[at], r.said[0], field)
	if !ok {
		return nil, false
	}
	return slices.Concat(elems[:at:at], []json.RawMessage{rest}, elems[at+1:]), true
}
