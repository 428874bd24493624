package transport

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Some callers of the Responses API send references in place of items that the provider
// stores (item_reference). A mark in the item does not come back with its reference.

// forget remembers the ids of reasoning that led only to recall calls, and that the caller
// gets without these calls.
func (a *asking) forget(s *said) {
	for at := range s.boundReasoning() {
		if id := text(obj(s.whole[at])["id"]); id != "" {
			a.x.t.rounds.bound.first(a.x.linkKey(id))
		}
	}
}

// isBound reports whether an item is reasoning that led only to recall calls, or a reference
// to it.
func (x *exchange) isBound(elem json.RawMessage) bool {
	if !bytes.Contains(elem, []byte(`reference"`)) && !bytes.Contains(elem, []byte(`"reasoning"`)) {
		return false
	}
	item := obj(elem)
	if kind := text(item["type"]); kind != "item_reference" && kind != "reasoning" {
		return false
	}
	return x.t.rounds.bound.has(x.linkKey(text(item["id"])))
}

// resolved returns a conversation with the items of the round's answer in place of
// references to them.
func (r *round) resolved(elems []json.RawMessage) []json.RawMessage {
	if r.at >= len(elems) || !isReference(elems[r.at]) {
		return elems
	}
	items := map[string]json.RawMessage{}
	for _, item := range slices.Concat(r.prior, r.said) {
		items[text(obj(item)["id"])] = item
	}
	out := slices.Clone(elems)
	for i := r.at; i < len(out) && isReference(out[i]); i++ {
		if item := items[text(obj(out[i])["id"])]; item != nil {
			out[i] = item
		}
	}
	return out
}

func isReference(elem json.RawMessage) bool {
	return bytes.Contains(elem, []byte("item_reference")) && text(obj(elem)["type"]) == "item_reference"
}
