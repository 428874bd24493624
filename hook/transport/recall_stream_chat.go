package transport

import (
	"bytes"
	"encoding/json"
	"slices"
)

// choiceOf returns the first choice of a chunk, nil if there is none.
func choiceOf(o rawObject) rawObject {
	choices := list(o["choices"])
	if len(choices) == 0 {
		return nil
	}
	return obj(choices[0])
}

func withChoice(e *piece, o, choice rawObject) {
	o["choices"] = enc([]rawObject{choice})
	e.write(o)
}

func (chatDialect) scan(f *flow, o rawObject) {
	choice := choiceOf(o)
	for i, raw := range list(obj(choice["delta"])["tool_calls"]) {
		call := obj(raw)
		at := indexOf(call["index"])
		if at < 0 {
			at = i
		}
		f.call(at, text(obj(call["function"])["name"]))
	}
	f.whole = f.whole || text(choice["finish_reason"]) != ""
}

// Reasoning has no signature on this wire.
func (chatDialect) bind(*pieces, *said) {}

func (chatDialect) unbind(elem json.RawMessage) json.RawMessage { return elem }

func (chatDialect) unend(e *piece) {
	o := e.read()
	choice := choiceOf(o)
	switch {
	case o == nil:
		e.dropped = e.dropped || bytes.Contains(e.raw, []byte("[DONE]"))
	case choice == nil || len(obj(choice["delta"])) == 0: // usage, an end, or a recall call
		e.dropped = true
	case text(choice["finish_reason"]) != "":
		choice["finish_reason"] = enc(nil)
		withChoice(e, o, choice)
	}
}

func (chatDialect) note(j *joint, p *pieces) {
	for _, e := range p.list {
		o := e.read()
		if j.id == nil {
			j.id, j.created = o["id"], o["created"]
		}
		j.output += max(indexOf(obj(o["usage"])["completion_tokens"]), 0)
		j.endsInText(text(obj(choiceOf(o)["delta"])["content"]))
	}
}

func (chatDialect) follow(j *joint, e *piece) {
	o := e.read()
	if o == nil {
		return
	}
	if o["id"] != nil {
		o["id"], o["created"] = j.id, j.created
	}
	if usage := obj(o["usage"]); usage != nil {
		j.addTo(usage, "completion_tokens", "total_tokens")
		o["usage"] = enc(usage)
	}
	if choice := choiceOf(o); choice != nil {
		delta := obj(choice["delta"])
		delete(delta, "role")
		if content := text(delta["content"]); content != "" {
			delta["content"] = enc(j.apart(content))
		}
		if delta != nil {
			choice["delta"] = enc(delta)
		}
		o["choices"] = enc([]rawObject{choice})
	}
	e.write(o)
}

func (chatDialect) failure(*joint, rawObject, string) string { return "" }

func (chatDialect) merge(first, second []json.RawMessage) []json.RawMessage {
	if len(first) == 0 {
		return second
	}
	one, two := obj(first[0]), obj(second[0])
	if before, after := text(one["content"]), text(two["content"]); before+after != "" {
		two["content"] = enc(before + after)
	}
	return []json.RawMessage{enc(two)}
}

func (d chatDialect) cut(elems []json.RawMessage, at int, r *round) ([]json.RawMessage, bool) {
	if showsCalls(elems[at:], r.said, r.beside != nil) {
		return elems, true // the calls are sent back without any text
	}
	if digestOf(elems[at:at+1]) != digestOf(d.merge(r.prior, r.said)) {
		return nil, false
	}
	last, ok := withCallsOf(elems[at], r.said[0], chatCalls)
	if !ok {
		return nil, false
	}
	return slices.Concat(elems[:at:at], []json.RawMessage{last}, elems[at+1:]), true
}
