package responses

import (
	"bytes"
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
	"github.com/agentcompact/compact/message/wire"
)

// The rules of the Responses API, with their names in [wire.Violation.Check].
const (
	CheckUnanswered = "tool_call_without_result"  // each call has an output after it
	CheckOrphan     = "tool_result_without_call"  // each output has a call before it
	CheckRepeated   = "item_repeated"             // no item occurs twice
	CheckReasoning  = "reasoning_without_item"    // reasoning is followed by the item that it led to
	CheckSealed     = "sealed_item_changed"       // reasoning and calls are sent back unchanged
	CheckCompaction = "compaction_item_missing"   // a compaction item, which replaces the items before it, is kept
	CheckReference  = "item_reference_split"      // outputs stay together with the references that may represent their calls
	CheckEmpty      = "empty_content"             // every message has content
	CheckLast       = "assistant_message_last"    // the last message is not the assistant's
	CheckNoUser     = "user_message_missing"      // the conversation has a user message
	CheckSources    = "view_does_not_fit_request" // the view can be written
)

// Check checks a view against the rules, in one pass.
func (r *request) Check(view []message.Message, sources []int) []wire.Violation {
	if err := r.fits(view, sources); err != nil {
		return []wire.Violation{{Check: CheckSources, Index: -1, Detail: err.Error()}}
	}
	c := checker{seen: make([]bool, len(r.msgs))}
	for k := range view {
		c.message(k, &view[k])
		if src := sources[k]; src >= 0 {
			c.kept(k, src, &r.msgs[src], &view[k])
		}
	}
	c.unanswered()
	c.gone(r.msgs)
	c.references(r.msgs)
	c.ends(view, r.prompt)
	return c.found
}

type checker struct {
	found []wire.Violation
	calls []call
	older map[string]int // id → the newest of calls[:known] with this id; built on first use
	known int
	seen  []bool // for each message of the request, whether it is still there
}

type call struct {
	id       string
	at       int
	answered bool
}

func (c *checker) add(check, id string, at int, format string, args ...any) {
	c.found = append(c.found, wire.Violation{Check: check, ID: id, Index: at, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) message(k int, m *message.Message) {
	says := false
	answered := ""
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case message.KindToolCall:
			c.calls = append(c.calls, call{id: p.CallID, at: k})
			says = true
		case message.KindToolResult:
			if i == 0 || p.CallID != answered { // the text of one output may be divided into several parts
				c.output(k, p.CallID)
			}
			answered = p.CallID
			says = says || p.Text != ""
		default:
			says = true
		}
	}
	if !says && !hasNoText(m) {
		c.add(CheckEmpty, m.Fingerprint().String(), k, "message %d (%s) has no content", k+1, m.Role)
	}
	if n := len(m.Parts); n > 0 && m.Parts[n-1].Kind == message.KindReasoning {
		c.add(CheckReasoning, m.Fingerprint().String(), k, "message %d: %q", k+1,
			"Item of type 'reasoning' was provided without its required following item")
	}
}

// hasNoText reports whether an item has no text by its nature, such as an approval.
func hasNoText(m *message.Message) bool {
	return bytes.Contains(m.Raw(), []byte("mcp_approval_response")) || bytes.Contains(m.Raw(), []byte("apply_patch_call_output"))
}

func (c *checker) output(k int, id string) {
	at := c.newest(id)
	if at < 0 {
		c.add(CheckOrphan, id, k, "message %d: %q", k+1, "No tool call found for function call output with call_id "+id+".")
		return
	}
	c.calls[at].answered = true
}

// near limits the number of calls that are searched one by one: nearly every output
// directly follows its calls. A table of all calls of a long conversation exceeds
// the processor's caches, and used to take most of the time of Check.
const near = 32

// newest returns the newest call with an id so far; -1 = none.
func (c *checker) newest(id string) int {
	for at := len(c.calls) - 1; at >= max(0, len(c.calls)-near); at-- {
		if c.calls[at].id == id {
			return at
		}
	}
	if c.older == nil {
		c.older = map[string]int{}
	}
	for ; c.known < len(c.calls); c.known++ {
		c.older[c.calls[c.known].id] = c.known
	}
	if at, ok := c.older[id]; ok {
		return at
	}
	return -1
}

func (c *checker) unanswered() {
	for _, call := range c.calls {
		if !call.answered {
			c.add(CheckUnanswered, call.id, call.at, "message %d: %q", call.at+1, "No tool output found for function call "+call.id+".")
		}
	}
}

// kept checks that a message occurs once and differs only in its texts.
func (c *checker) kept(k, src int, was, is *message.Message) {
	if c.seen[src] {
		c.add(CheckRepeated, was.Fingerprint().String(), k, "message %d occurs twice: %q", k+1, "Duplicate item found")
	}
	c.seen[src] = true
	if elements.Changed(was, is) {
		c.add(CheckSealed, was.Fingerprint().String(), k, "message %d: its reasoning, calls or unknown items differ from the items that the model made", k+1)
	}
}

// gone checks that the view has all messages that must not be removed.
func (c *checker) gone(was []message.Message) {
	for i := range was {
		if was[i].Role == "compaction" && !c.seen[i] {
			c.add(CheckCompaction, was[i].Fingerprint().String(), -1, "a compaction item is missing; it replaces the conversation before it and must be sent back")
		}
	}
}

// references checks outputs without a call in the body. The references directly before such outputs
// may represent the calls, so the view must have all of these items or none.
func (c *checker) references(was []message.Message) {
	known := map[string]bool{}
	counted := 0 // messages whose calls are known: none if there are no references, which is the usual case
	for i := range was {
		if !refers(&was[i]) {
			continue
		}
		for ; counted <= i; counted++ {
			addCalls(known, &was[counted])
		}
		for k := i + 1; k < len(was) && isOrphan(&was[k], known); k++ {
			if c.seen[k] != c.seen[i] {
				c.add(CheckReference, was[k].Fingerprint().String(), -1, "of an output and the reference to its call, one is missing in the view")
			}
		}
	}
}

func refers(m *message.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.KindOther && plain(typeOf(p.Args)) == "item_reference" {
			return true
		}
	}
	return false
}

func addCalls(known map[string]bool, m *message.Message) {
	for i := range m.Parts {
		if m.Parts[i].Kind == message.KindToolCall {
			known[m.Parts[i].CallID] = true
		}
	}
}

func isOrphan(m *message.Message, known map[string]bool) bool {
	for _, p := range m.Parts {
		if p.Kind == message.KindToolResult {
			return !known[p.CallID]
		}
	}
	return false
}

// ends checks that the view is not empty, and that its end is one that the provider
// accepts.
func (c *checker) ends(view []message.Message, prompt int) {
	if len(view) == prompt {
		c.add(CheckEmpty, "", -1, "no item is left: %q", "Missing required parameter: 'input'")
		return
	}
	if last := len(view) - 1; view[last].Role == message.RoleAssistant {
		c.add(CheckLast, "", last, "the last message is the model's own")
	}
	for i := range view {
		if view[i].Role == message.RoleUser {
			return
		}
	}
	c.add(CheckNoUser, "", -1, "no user message is left")
}
