package provider

import (
	"fmt"
	"slices"
	"strings"
)

// isCall reports whether an item is a call that the client answers.
func isCall(it object) bool {
	t := itemType(it)
	return t == "function_call" || t == "custom_tool_call"
}

func isOutput(it object) bool {
	t := itemType(it)
	return t == "function_call_output" || t == "custom_tool_call_output"
}

// responsesPairs checks calls and outputs. An output may come anywhere after
// its call.
func responsesPairs(r *report, items []object) {
	called, answered := map[string]bool{}, map[string]bool{}
	for i, it := range items {
		id := str(it, "call_id")
		switch {
		case isCall(it):
			called[id], answered[id] = true, false // a later call with an answered id needs an output of its own
		case isOutput(it) && !called[id]:
			r.add("tool_without_call", id, fmt.Sprintf("input[%d]", i), fmt.Sprintf("No tool call found for function call output with call_id %s.", id))
		case isOutput(it):
			answered[id] = true
		}
	}
	for _, it := range items {
		if id := str(it, "call_id"); isCall(it) && !answered[id] {
			r.add("call_without_result", id, "input", fmt.Sprintf("No tool output found for function call %s.", id))
		}
	}
}

// issueResponses records encrypted reasoning, and the items that each piece of
// it led to.
func issueResponses(j *Judge, body object) {
	items := objects(body["input"])
	for i, it := range items {
		switch {
		case opaque(it):
			j.seal(sealOf(it), sealed(it))
		case ofModel(it):
			j.lead(itemKey(it), ledByReasoning(items, i))
		}
	}
}

// isReasoning reports whether an item is reasoning.
func isReasoning(it object) bool { return itemType(it) == "reasoning" }

// opaque reports whether an item must be sent back unchanged or not at all.
func opaque(it object) bool { return isReasoning(it) || itemType(it) == "compaction" }

// ofModel reports whether the model made an item.
func ofModel(it object) bool {
	return isCall(it) || itemType(it) == "message" && str(it, "role") == "assistant" || slices.Contains(serverItems, itemType(it))
}

// sealOf returns the key of a piece of reasoning.
func sealOf(it object) string {
	if s := str(it, "encrypted_content"); s != "" {
		return s
	}
	return str(it, "id")
}

// sealed returns the part of an item that must come back unchanged. It leaves out
// members that clients add: their own fields, and null.
func sealed(it object) string {
	out := without(it, passthrough)
	for name, v := range out {
		if v == nil {
			delete(out, name)
		}
	}
	return canonical(out)
}

// itemKey returns the key of an item that reasoning led to. The key of a
// message without an id is its content.
func itemKey(it object) string {
	if id := itemOwner(it); id != "" {
		return id
	}
	return canonical(it)
}

// ledByReasoning returns the reasoning directly before an item.
func ledByReasoning(items []object, i int) []string {
	var seals []string
	for k := i - 1; k >= 0 && isReasoning(items[k]); k-- {
		seals = append(seals, sealOf(items[k]))
	}
	slices.Reverse(seals)
	return seals
}

// responsesReasoning checks that reasoning precedes the item that it led to,
// and that items that need reasoning have it.
func responsesReasoning(j *Judge, r *report, items []object) {
	for i, it := range items {
		path := fmt.Sprintf("input[%d]", i)
		if opaque(it) && !j.isGenuine(sealOf(it), sealed(it)) {
			r.add("sealed", sealOf(it), path, unverifiable(it))
		}
		if isReasoning(it) && !hasReasoning(j, items, i) {
			r.add("reasoning_alone", sealOf(it), path, fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", str(it, "id")))
		}
		if ofModel(it) {
			responsesLed(j, r, path, items, i)
		}
	}
}

func unverifiable(it object) string {
	s := str(it, "encrypted_content")
	return fmt.Sprintf("The encrypted content %s... could not be verified. Reason: Encrypted content could not be decrypted or parsed.", s[:min(len(s), 4)])
}

// hasReasoning reports whether reasoning precedes the item that it led to.
func hasReasoning(j *Judge, items []object, i int) bool {
	for _, it := range items[i+1:] {
		if !isReasoning(it) {
			return ofModel(it) && j.mayPrecede(sealOf(items[i]), itemKey(it))
		}
	}
	return false
}

// responsesLed checks that an item has the reasoning that led to it.
func responsesLed(j *Judge, r *report, path string, items []object, i int) {
	it, got := items[i], ledByReasoning(items, i)
	for _, seal := range j.ledBy(itemKey(it)) {
		if !slices.Contains(got, seal) {
			r.add("reasoning_lost", itemKey(it), path, fmt.Sprintf("Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", itemOwner(it), itemType(it), seal))
		}
	}
}

func responsesTwice(r *report, items []object) {
	seen := map[string]bool{}
	for i, it := range items {
		id := str(it, "id")
		if id != "" && seen[id] {
			r.add("item_twice", id, fmt.Sprintf("input[%d]", i), fmt.Sprintf("Duplicate item found with id %s. Remove duplicate items from your input and try again.", id))
		}
		seen[id] = true
	}
}

func responsesDialects(r *report, items []object) {
	for i, it := range items {
		if isOutput(it) && emptyOutput(it["output"]) {
			r.add("empty_result", str(it, "call_id"), fmt.Sprintf("input[%d].output", i), "Invalid 'output': must not be empty.")
		}
	}
	if n := len(items); n > 0 && ofModel(items[n-1]) {
		r.add("ends_with_model", "", "input", "The last item must not be of the model.")
	}
}

// emptyOutput reports whether a result is empty: no text, no part, or only
// empty texts.
func emptyOutput(v any) bool {
	s, isText := v.(string)
	if isText {
		return s == ""
	}
	for _, p := range objects(v) {
		if !strings.HasSuffix(str(p, "type"), "_text") || str(p, "text") != "" {
			return false
		}
	}
	return true
}
