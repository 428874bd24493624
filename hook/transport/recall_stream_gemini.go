package transport

import (
	"encoding/json"
	"slices"
)

// withParts writes a chunk with one candidate that has these parts.
func withParts(e *piece, o, candidate rawObject, parts []json.RawMessage) {
	content := obj(candidate["content"])
	if content != nil {
		content["parts"] = enc(append([]json.RawMessage{}, parts...))
		candidate["content"] = enc(content)
	}
	o["candidates"] = enc([]rawObject{candidate})
	e.write(o)
}

// candidateOf returns the first candidate of a chunk, nil if there is none.
func candidateOf(o rawObject) rawObject {
	all := list(o["candidates"])
	if len(all) == 0 {
		return nil
	}
	return obj(all[0])
}

func (geminiDialect) scan(f *flow, o rawObject) {
	parts, _ := candidate(o)
	for _, raw := range parts {
		if call := obj(obj(raw)["functionCall"]); call != nil {
			f.call(len(f.names), text(call["name"]))
		}
	}
	f.whole = f.whole || text(candidateOf(o)["finishReason"]) != ""
}

// On this wire the signature of reasoning is in the part that follows from the
// reasoning.
func (geminiDialect) bind(*pieces, *said) {}

func (geminiDialect) unbind(elem json.RawMessage) json.RawMessage { return elem }

func (geminiDialect) unend(e *piece) {
	o := e.read()
	choice := candidateOf(o)
	if choice == nil {
		e.dropped = e.dropped || o != nil
		return
	}
	parts, _ := candidate(o)
	parts = slices.DeleteFunc(parts, func(raw json.RawMessage) bool {
		p := obj(raw)
		return text(p["text"]) == "" && p["text"] != nil && p[signatureField] == nil
	})
	if len(parts) == 0 {
		e.dropped = true
		return
	}
	delete(choice, "finishReason")
	withParts(e, o, choice, parts)
}

func (geminiDialect) note(j *joint, p *pieces) {
	output := 0
	for _, e := range p.list {
		o := e.read()
		if j.id == nil {
			j.id = o["responseId"]
		}
		output = max(output, indexOf(obj(o["usageMetadata"])["candidatesTokenCount"]))
		parts, _ := candidate(o)
		for _, raw := range parts {
			if part := obj(raw); string(part["thought"]) != "true" {
				j.endsInText(text(part["text"]))
			}
		}
	}
	j.output += output
}

func (geminiDialect) follow(j *joint, e *piece) {
	o := e.read()
	if o == nil {
		return
	}
	if j.id != nil {
		o["responseId"] = j.id
	}
	if usage := obj(o["usageMetadata"]); usage != nil {
		j.addTo(usage, "candidatesTokenCount", "totalTokenCount")
		o["usageMetadata"] = enc(usage)
	}
	parts, n := candidate(o)
	if n != 1 {
		e.write(o)
		return
	}
	for i, raw := range parts {
		if part := obj(raw); text(part["text"]) != "" && string(part["thought"]) != "true" {
			part["text"] = enc(j.apart(text(part["text"])))
			parts[i] = enc(part)
		}
	}
	withParts(e, o, candidateOf(o), parts)
}

func (geminiDialect) failure(*joint, rawObject, string) string { return "" }

func (geminiDialect) merge(first, second []json.RawMessage) []json.RawMessage {
	return mergeField(geminiCalls, first, second)
}

func (geminiDialect) cut(elems []json.RawMessage, at int, r *round) ([]json.RawMessage, bool) {
	return cutField(geminiCalls, elems, at, r)
}
