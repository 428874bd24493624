package transport

import (
	"encoding/json"
	"slices"
)

func (responsesDialect) scan(f *flow, o rawObject) {
	item := obj(o["item"])
	reasoning := text(item["type"]) == "reasoning"
	switch text(o["type"]) {
	case "response.output_item.added":
		f.bound = f.bound && reasoning
		if text(item["type"]) == "function_call" {
			f.call(indexOf(o["output_index"]), text(item["name"]))
		}
	case "response.output_item.done":
		f.bound = reasoning
	case "response.completed", "response.incomplete", "response.failed", "error":
		f.bound, f.whole = false, true
	}
}

func (responsesDialect) bind(p *pieces, s *said) {
	bound := s.boundReasoning()
	for _, e := range p.list {
		o := e.read()
		switch text(o["type"]) {
		case "response.output_item.done":
			if bound[indexOf(o["output_index"])] {
				o["item"] = markItem(o["item"])
				e.write(o)
			}
		case "response.completed", "response.incomplete":
			response := obj(o["response"])
			output := list(response["output"])
			for at := range output {
				if bound[at] {
					output[at] = markItem(output[at])
				}
			}
			response["output"] = enc(append([]json.RawMessage{}, output...))
			o["response"] = enc(response)
			e.write(o)
		}
	}
}

func markItem(raw json.RawMessage) json.RawMessage {
	item := obj(raw)
	item["encrypted_content"] = enc(boundSeal)
	return enc(item)
}

func (responsesDialect) unbind(elem json.RawMessage) json.RawMessage {
	if isReasoning(elem) && text(obj(elem)["encrypted_content"]) == boundSeal {
		return nil
	}
	return elem
}

func (responsesDialect) unend(e *piece) {
	e.dropped = e.dropped || text(e.read()["type"]) == "response.completed"
}

func (responsesDialect) note(j *joint, p *pieces) {
	items := 0
	for _, e := range p.list {
		o := e.read()
		if n := indexOf(o["sequence_number"]); n >= 0 {
			j.sequence = max(j.sequence, n) // of the last event, which is not passed on
		}
		response := obj(o["response"])
		if j.id == nil && response != nil {
			j.id, j.created = response["id"], response["created_at"]
		}
		switch text(o["type"]) {
		case "response.output_item.added":
			items++
		case "response.completed":
			j.take(response)
		}
	}
	j.index += items
}

func (responsesDialect) follow(j *joint, e *piece) {
	o := e.read()
	if o == nil {
		return
	}
	switch text(o["type"]) {
	case "response.created", "response.in_progress", "response.queued":
		e.dropped = true
		return
	}
	if at := indexOf(o["output_index"]); at >= 0 {
		o["output_index"] = enc(at + j.index)
	}
	if response := obj(o["response"]); response != nil {
		o["response"] = enc(j.response(response))
	}
	if o["sequence_number"] != nil {
		o["sequence_number"] = enc(j.sequence)
		j.sequence++
	}
	e.write(o)
}

// response gives a response the id, the creation time and the items of the response
// that the caller receives, and adds the earlier answers to its usage. If the server
// leaves the output of last events empty, it stays empty.
func (j *joint) response(r rawObject) rawObject {
	if j.id != nil {
		r["id"] = j.id
	}
	if j.created != nil {
		r["created_at"] = j.created
	}
	if output := list(r["output"]); len(output) > 0 || len(j.items) > 0 {
		r["output"] = enc(slices.Concat(j.items, output))
	}
	if usage := obj(r["usage"]); usage != nil {
		j.addTo(usage, "output_tokens", "total_tokens")
		r["usage"] = enc(usage)
	}
	return r
}

func (responsesDialect) failure(j *joint, o rawObject, message string) string {
	o["type"], o["message"], o["param"], o["sequence_number"] = enc("error"), enc(message), enc(nil), enc(j.sequence)
	if o["code"] == nil {
		o["code"] = enc("server_error")
	}
	return "error"
}

func (responsesDialect) merge(first, second []json.RawMessage) []json.RawMessage {
	return slices.Concat(first, second)
}

// cut removes the items of the earlier answers, with the reasoning before each
// of them. Reasoning that led only to recall calls was removed before.
func (responsesDialect) cut(elems []json.RawMessage, at int, r *round) ([]json.RawMessage, bool) {
	i := at
	for _, want := range r.prior {
		if isReasoning(want) {
			continue
		}
		for i < len(elems) && isReasoning(elems[i]) {
			i++
		}
		if i == len(elems) || digestOf(elems[i:i+1]) != digestOf([]json.RawMessage{want}) {
			return nil, false
		}
		i++
	}
	return slices.Concat(elems[:at:at], elems[i:]), true
}
