package anthropic

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
	"github.com/agentcompact/compact/message/wire"
)

// The rules of the API, with their names in [wire.Violation.Check].
const (
	CheckView         = splice.CheckView           // the view does not belong to this request
	CheckFirst        = "first_message_not_user"   // a compaction block may come first, too
	CheckRole         = "unknown_role"             //
	CheckSystem       = "system_position"          // after the user, before the assistant
	CheckEmpty        = "empty_message"            //
	CheckEmptyText    = "empty_text"               //
	CheckSealed       = "sealed_part_changed"      // thinking is sent back unchanged
	CheckUnanswered   = "tool_use_without_result"  // the result must be in the next message
	CheckOrphan       = "tool_result_without_call" // the call must be in the previous message
	CheckTwice        = "tool_use_twice"           // ids are unique
	CheckResultsFirst = "tool_result_not_first"    //
	CheckTrailing     = "trailing_assistant"       // the model's answer would continue that message
	CheckMarks        = "too_many_cache_marks"     //
	CheckMarkOrder    = "cache_mark_order"         // marks for an hour come first
	CheckCompaction   = "compaction_block_moved"   //
)

// checker checks one view against the rules.
type checker struct {
	splice.Checker
	request *request
	sorted  []string // result of the last call of ids
}

// Check checks the body that Write would return against the rules of the API.
func (r *request) Check(view []message.Message, sources []int) []wire.Violation {
	held, ok := splice.NewChecker(r.List, view, sources)
	if !ok {
		return held.Found
	}
	c := checker{Checker: held, request: r}
	c.ends()
	c.contents()
	c.pairs()
	c.served()
	c.marked()
	c.compacted()
	return c.Found
}

// role returns the role of a unit on the wire.
func (c *checker) role(u splice.Unit) string {
	if u.Made() {
		return string(madeRole(c.View[u.From]))
	}
	return c.Role(u.Item)
}

// ends checks the first message and the last.
func (c *checker) ends() {
	if len(c.Units) == 0 {
		c.Whole(CheckEmpty, -1, "messages: at least one message is required")
		return
	}
	first, last := c.Units[0], c.Units[len(c.Units)-1]
	if c.role(first) != "user" && !c.compacts(first) {
		c.Whole(CheckFirst, first.From, "messages: first message must use the \"user\" role")
	}
	if c.role(last) == "assistant" {
		c.Whole(CheckTrailing, last.From, "the conversation ends with an assistant message, with which the answer would begin; the conversation must end with a user message")
	}
}

// contents checks each message by itself, and its position.
func (c *checker) contents() {
	for i, u := range c.Units {
		switch role := c.role(u); role {
		case "user", "assistant":
		case "system":
			c.system(i)
		default:
			c.Report(CheckRole, u, "", fmt.Sprintf("messages: unexpected role %q", role))
		}
		parts := 0
		for k := u.From; k < u.To; k++ {
			parts += len(c.View[k].Parts)
			c.texts(u, k)
			if s := c.Sources[k]; s >= 0 && c.Changed(&c.View[k], s) {
				c.Report(CheckSealed, u, "", "messages: `thinking` or `redacted_thinking` blocks cannot be modified; these blocks must remain as they were in the original response")
			}
		}
		if last := i == len(c.Units)-1; parts == 0 && !(last && c.role(u) == "assistant") {
			c.Report(CheckEmpty, u, "", "messages: all messages must have non-empty content except for the optional final assistant message")
		}
		c.order(u)
	}
}

func (c *checker) texts(u splice.Unit, k int) {
	for i := range c.View[k].Parts {
		if p := &c.View[k].Parts[i]; p.Kind == message.KindText && strings.TrimSpace(p.Text) == "" {
			c.Report(CheckEmptyText, u, fmt.Sprintf("%d.%d", k-u.From, i), "messages: text content blocks must contain non-whitespace text")
		}
	}
}

// system checks the position of a system message among the other messages.
func (c *checker) system(i int) {
	u := c.Units[i]
	switch {
	case i == 0: // ends reports this
	case c.role(c.Units[i-1]) == "assistant" && !c.endsWithServerBlock(c.Units[i-1]), c.role(c.Units[i-1]) == "system":
		c.Report(CheckSystem, u, "before", "messages: a system message must follow a user message")
	}
	if i+1 < len(c.Units) && c.role(c.Units[i+1]) != "assistant" {
		c.Report(CheckSystem, u, "after", "messages: a system message must be the last, or before an assistant message")
	}
}

// endsWithServerBlock reports whether a message ends with a block of a server's tool.
func (c *checker) endsWithServerBlock(u splice.Unit) bool {
	parts := c.View[u.To-1].Parts
	return len(parts) > 0 && parts[len(parts)-1].Kind == message.KindOther
}

// order checks that results come first in an item that also has other blocks.
func (c *checker) order(u splice.Unit) {
	mixed := u.To-u.From == 2 && !u.Joined
	if !mixed && (c.View[u.From].Role == message.RoleTool || !c.View[u.From].Has(message.KindToolResult)) {
		return
	}
	raw := c.View[u.From].Raw()
	if mixed {
		raw = c.Item(u.Item)
	}
	rest := false
	for n, b := range content(raw) {
		if rest = rest || !b.Result; rest && b.Result {
			c.Report(CheckResultsFirst, u, fmt.Sprint(n), "messages: tool_result blocks must come before all other blocks of a user message")
		}
	}
}
