package provider

import (
	"fmt"
	"slices"
	"strings"
)

func isThinking(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

// thinkingSeal returns the key of a thinking block: its signature, or its data.
func thinkingSeal(b object) string {
	if s := str(b, "signature"); s != "" {
		return s
	}
	return str(b, "data")
}

// issueAnthropic records signed thinking and the calls, or the text, that it
// led to.
func issueAnthropic(j *Judge, body object) {
	for _, t := range turnsOf(objects(body["messages"])) {
		var seals []string
		said := false // a text or call came after the last thinking
		for _, b := range t.blocks {
			if said && isThinking(b.kind()) {
				seals = nil
			}
			said = !isThinking(b.kind())
			switch {
			case isThinking(b.kind()):
				seals = append(seals, thinkingSeal(b.object))
				j.seal(thinkingSeal(b.object), canonical(without(b.object, "cache_control")))
			case b.kind() == "tool_use":
				j.lead(b.owner(), seals)
			case t.role == "assistant" && b.kind() == "text":
				j.lead(str(b.object, "text"), seals)
			}
			for _, found := range webResults(b) {
				j.seal(str(found, "encrypted_content"), foundPage)
			}
		}
	}
}

// anthropicThinking checks that thinking is unchanged since it was issued.
func anthropicThinking(j *Judge, r *report, turns []turn, enabled bool) {
	for _, t := range turns {
		if t.role == "assistant" {
			anthropicSigned(j, r, t)
			anthropicKept(j, r, t)
		}
	}
	if enabled {
		anthropicBegins(r, turns)
	}
}

func anthropicSigned(j *Judge, r *report, t turn) {
	for _, b := range t.blocks {
		if isThinking(b.kind()) && !j.isGenuine(thinkingSeal(b.object), canonical(without(b.object, "cache_control"))) {
			r.add("sealed", thinkingSeal(b.object), b.path(), fmt.Sprintf("%s: Invalid `signature` in `%s` block", b.path(), b.kind()))
		}
	}
}

// anthropicKept checks that all thinking that led to a call or a text precedes
// it, in order, and that no other thinking is in the turn.
func anthropicKept(j *Judge, r *report, t turn) {
	var got []string
	claimed := map[string]bool{}
	for _, b := range t.blocks {
		item := b.owner()
		switch {
		case isThinking(b.kind()):
			got = append(got, thinkingSeal(b.object))
			continue
		case b.kind() == "text":
			item = str(b.object, "text")
		case b.kind() != "tool_use":
			continue
		}
		want := j.ledBy(item)
		if !inOrder(want, got) {
			r.add("thinking_changed", b.owner(), b.path(), changedThinking(b))
		}
		for _, seal := range got {
			claimed[seal] = claimed[seal] || j.mayPrecede(seal, item)
		}
	}
	for _, b := range t.blocks {
		if seal := thinkingSeal(b.object); isThinking(b.kind()) && !claimed[seal] {
			r.add("thinking_alone", seal, b.path(), changedThinking(b))
		}
	}
}

// inOrder reports whether got contains all elements of want, in this order.
func inOrder(want, got []string) bool {
	for _, w := range want {
		k := slices.Index(got, w)
		if k < 0 {
			return false
		}
		got = got[k+1:]
	}
	return true
}

func changedThinking(b block) string {
	return fmt.Sprintf("%s: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", b.path())
}

// anthropicBegins checks that the last assistant turn whose calls the request
// answers begins with thinking.
func anthropicBegins(r *report, turns []turn) {
	for k := len(turns) - 1; k > 0; k-- {
		t := turns[k-1]
		if t.role != "assistant" || turns[k].role != "user" {
			continue
		}
		calls := slices.ContainsFunc(t.blocks, func(b block) bool { return b.kind() == "tool_use" })
		if calls && !isThinking(t.blocks[0].kind()) && !strings.HasPrefix(t.blocks[0].kind(), "compaction") {
			b := t.blocks[0]
			r.add("thinking_first", b.owner(), b.path(), fmt.Sprintf("%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.", b.path(), b.kind()))
		}
		return
	}
}
