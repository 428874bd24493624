package anthropic

import (
	"fmt"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// pairs checks that every call is answered in the next message, and that every
// result answers a call of the previous message.
func (c *checker) pairs() {
	seen := map[string]bool{}
	for i, u := range c.Units {
		if c.role(u) == "assistant" {
			c.calls(i, seen)
		}
		c.results(i)
	}
}

func (c *checker) calls(i int, seen map[string]bool) {
	u := c.Units[i]
	var answers []string
	if i+1 < len(c.Units) && c.role(c.Units[i+1]) == "user" {
		answers = c.ids(c.Units[i+1], message.KindToolResult)
	}
	c.each(u, message.KindToolCall, func(id string) {
		if seen[id] {
			c.Report(CheckTwice, u, id, fmt.Sprintf("messages: `tool_use` ids must be unique: %s", id))
		}
		seen[id] = true
		if _, ok := slices.BinarySearch(answers, id); !ok {
			c.Report(CheckUnanswered, u, id, fmt.Sprintf("messages: `tool_use` ids were found without `tool_result` blocks immediately after: %s", id))
		}
	})
}

func (c *checker) results(i int) {
	u := c.Units[i]
	if !c.has(u, message.KindToolResult) {
		return
	}
	var calls []string
	if i > 0 && c.role(u) == "user" && c.role(c.Units[i-1]) == "assistant" {
		calls = c.ids(c.Units[i-1], message.KindToolCall)
	}
	c.each(u, message.KindToolResult, func(id string) {
		if _, ok := slices.BinarySearch(calls, id); !ok {
			c.Report(CheckOrphan, u, id, fmt.Sprintf("messages: unexpected `tool_use_id` found in `tool_result` blocks: %s", id))
		}
	})
}

// each calls f for the id of each call, or of each result, of a unit. All texts
// of one result count once.
func (c *checker) each(u splice.Unit, kind message.Kind, f func(id string)) {
	c.Each(u, kind, func(parts []message.Part, i int) {
		if kind == message.KindToolResult && i > 0 && parts[i-1].CallID == parts[i].CallID && parts[i-1].Kind != message.KindToolCall {
			return
		}
		f(parts[i].CallID)
	})
}

// ids returns the sorted ids of the calls, or of the results, of a unit.
func (c *checker) ids(u splice.Unit, kind message.Kind) []string {
	c.sorted = c.sorted[:0]
	c.each(u, kind, func(id string) { c.sorted = append(c.sorted, id) })
	slices.Sort(c.sorted)
	return c.sorted
}

func (c *checker) has(u splice.Unit, kind message.Kind) bool {
	for k := u.From; k < u.To; k++ {
		if c.View[k].Has(kind) {
			return true
		}
	}
	return false
}
