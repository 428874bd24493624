package provider

import (
	"encoding/json"
	"fmt"
	"strings"
)

var anthropicRules = rules{judge: judgeAnthropic, issue: issueAnthropic, parse: "The request body is not valid JSON"}

var anthropicPhrases = phrases{
	unknown: func(path, name string) string {
		return fmt.Sprintf("%s: Extra inputs are not permitted", dotted(path, name))
	},
	missing: func(path, name string) string { return fmt.Sprintf("%s: Field required", dotted(path, name)) },
	wrong: func(path, name string, want kind, _ any) string {
		what := "a valid string"
		switch {
		case want&list != 0 && want&text == 0:
			what = "a valid list"
		case want&dict != 0:
			what = "a valid dictionary"
		case want&flag != 0:
			what = "a valid boolean"
		}
		return fmt.Sprintf("%s: Input should be %s", dotted(path, name), what)
	},
}

var anthropicMessage = shape{must("role", text), must("content", text|list)}

// A turn is a run of messages of one role, which the provider joins.
type turn struct {
	role   string
	blocks []block
}

// A block is a block of a message, with its position.
type block struct {
	object
	msg, pos int
}

func (b block) kind() string { return str(b.object, "type") }
func (b block) path() string { return fmt.Sprintf("messages.%d.content.%d", b.msg, b.pos) }

func judgeAnthropic(j *Judge, r *report, body object) {
	if str(body, "model") == "" {
		r.add("model", "", "model", "model: Field required")
	}
	if _, ok := body["max_tokens"].(json.Number); !ok {
		r.add("max_tokens", "", "max_tokens", "max_tokens: Field required")
	}
	anthropicSystem(r, body["system"])
	all, ok := body["messages"].([]any)
	if !ok {
		r.add("missing_field", ".messages", "", "messages: Field required")
		return
	}
	if len(all) == 0 {
		r.add("no_messages", "", "messages", "messages: at least one message is required")
		return
	}
	msgs := objects(body["messages"])
	for i, m := range msgs {
		anthropicMessageRules(r, i, m, i == len(msgs)-1)
	}
	turns := turnsOf(msgs)
	anthropicOrder(r, str(body, "model"), turns)
	anthropicPairs(r, msgs)
	anthropicServed(r, body, turns)
	anthropicThinking(j, r, turns, thinkingIsOn(body))
	anthropicSearched(j, r, turns)
	anthropicBreakpoints(r, body)
	if r.dialect = j.Dialects; r.dialect {
		anthropicEmptyResults(r, turns)
	}
}

func thinkingIsOn(body object) bool {
	t, _ := body["thinking"].(object)
	return str(t, "type") == "enabled"
}

func anthropicSystem(r *report, system any) {
	switch s := system.(type) {
	case nil, string:
	case []any:
		for i, b := range objects(s) {
			path := fmt.Sprintf("system.%d", i)
			if r.fits(anthropicPhrases, blockShapes["text"], b, "system", path) && blank(str(b, "text")) {
				r.add("empty_text", "system", path, "system: text content blocks must be non-empty")
			}
		}
	default:
		r.add("wrong_type", ".system", "system", "system: Input should be a valid list")
	}
}

// blocksOf returns the blocks of a message; a string is one block of text.
func blocksOf(i int, m object) []block {
	if s, ok := m["content"].(string); ok {
		return []block{{object{"type": "text", "text": s}, i, 0}}
	}
	var out []block
	for k, o := range objects(m["content"]) {
		out = append(out, block{o, i, k})
	}
	return out
}

// turnsOf joins neighbors of one role.
func turnsOf(msgs []object) []turn {
	var out []turn
	for i, m := range msgs {
		role := str(m, "role")
		if n := len(out); n == 0 || out[n-1].role != role {
			out = append(out, turn{role: role})
		}
		last := &out[len(out)-1]
		last.blocks = append(last.blocks, blocksOf(i, m)...)
	}
	return out
}

func anthropicMessageRules(r *report, i int, m object, last bool) {
	path := fmt.Sprintf("messages.%d", i)
	role := str(m, "role")
	if role != "user" && role != "assistant" && role != "system" {
		r.add("role", role, path+".role", fmt.Sprintf("messages.%d.role: Input should be 'user', 'assistant' or 'system'", i))
		return
	}
	blocks := blocksOf(i, m)
	r.fits(anthropicPhrases, anthropicMessage, m, anthropicOwner(blocks, role), path)
	if len(blocks) == 0 || m["content"] == "" {
		if role != "assistant" || !last {
			r.add("no_content", role, path, fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i))
		}
		return
	}
	for _, b := range blocks {
		anthropicBlock(r, role, b)
	}
	if role == "assistant" && strings.HasSuffix(blocks[len(blocks)-1].kind(), "thinking") {
		r.add("thinking_last", role, path, fmt.Sprintf("messages.%d: The final block in an assistant message cannot be `thinking`.", i))
	}
}

// anthropicOwner returns a key that distinguishes a message from others: the id
// of its first call or result, else its role.
func anthropicOwner(blocks []block, role string) string {
	for _, b := range blocks {
		if id := b.owner(); id != "" {
			return id
		}
	}
	return role
}

func (b block) owner() string {
	if id := str(b.object, "tool_use_id"); id != "" {
		return id
	}
	return str(b.object, "id")
}

// anthropicOrder checks the roles of the first and the last message.
func anthropicOrder(r *report, model string, turns []turn) {
	first, last := turns[0], turns[len(turns)-1]
	compacted := first.role == "assistant" && len(first.blocks) > 0 && first.blocks[0].kind() == "compaction"
	if first.role != "user" && !compacted {
		r.add("first_role", "", "messages.0", "messages: first message must use the \"user\" role")
	}
	paused := len(last.blocks) > 0 && uncheckedBlock(last.blocks[len(last.blocks)-1].kind()) // stop_reason pause_turn: the model goes on
	if last.role == "assistant" && !paused && !prefills(model) {
		r.add("prefill", "", "messages", "This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	for i, t := range turns {
		if t.role == "system" && i > 0 {
			anthropicSystemPlace(r, t, turns[i-1], turns[i+1:])
		}
	}
}

// anthropicSystemPlace checks that a system message in mid-conversation stands
// alone after the user, or after a server-side tool, and before the assistant.
func anthropicSystemPlace(r *report, t, before turn, after []turn) {
	if len(t.blocks) == 0 {
		return
	}
	b := t.blocks[0]
	served := before.role == "assistant" && len(before.blocks) > 0 && uncheckedBlock(before.blocks[len(before.blocks)-1].kind())
	switch {
	case t.blocks[len(t.blocks)-1].msg != b.msg:
		r.add("system_place", str(b.object, "text"), b.path(), fmt.Sprintf("messages.%d: consecutive `system` messages are not allowed", b.msg+1))
	case before.role != "user" && !served:
		r.add("system_place", str(b.object, "text"), b.path(), fmt.Sprintf("messages.%d: a `system` message must immediately follow a user message or an assistant message that ends in a server tool use", b.msg))
	case len(after) > 0 && after[0].role != "assistant":
		r.add("system_place", str(b.object, "text"), b.path(), fmt.Sprintf("messages.%d: a `system` message must be the last message or be followed by an assistant message", b.msg))
	}
}

// prefills reports whether a model accepts a request that ends with the
// beginning of its answer.
func prefills(model string) bool { return strings.HasPrefix(model, "claude-3") }
