package openai

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
	"github.com/agentcompact/compact/message/wire"
)

// The rules of chat completions, with their names in [wire.Violation.Check].
const (
	CheckUnanswered = "tool_call_without_result"  // each call is answered by a tool message that directly follows
	CheckOrphan     = "tool_result_without_call"  // a tool message answers a call of the assistant message before it
	CheckRepeated   = "tool_result_repeated"      // only one tool message answers a call
	CheckNoID       = "tool_message_without_id"   // the result has the id of its call
	CheckEmpty      = "empty_content"             // every message has content
	CheckFirst      = "system_message_first"      // a conversation that began with a system message still begins with one
	CheckLast       = "assistant_message_last"    // the last message is not the assistant's
	CheckNoUser     = "user_message_missing"      // the conversation has a user message
	CheckReasoning  = "reasoning_changed"         // reasoning_content is sent back unchanged
	CheckCalls      = "tool_calls_changed"        // tool_calls are sent back unchanged, extra_content included
	CheckSources    = "view_does_not_fit_request" // the view can be written
)

// Check checks a view against the rules, in one pass.
func (r *request) Check(view []message.Message, sources []int) []wire.Violation {
	if err := elements.Sources(view, sources, len(r.msgs)); err != nil {
		return []wire.Violation{{Check: CheckSources, Index: -1, Detail: err.Error()}}
	}
	c := checker{}
	for k := range view {
		c.pairing(k, &view[k])
		c.content(k, &view[k])
		if src := sources[k]; src >= 0 {
			c.kept(k, &r.msgs[src], &view[k])
		}
	}
	c.unanswered(len(view))
	c.ends(r.msgs, view)
	return c.found
}

type checker struct {
	found   []wire.Violation
	caller  int             // the assistant message whose results are expected
	open    map[string]bool // its calls, and whether each is unanswered
	pending []string        // their ids, in order
}

func (c *checker) add(check, id string, at int, format string, args ...any) {
	c.found = append(c.found, wire.Violation{Check: check, ID: id, Index: at, Detail: fmt.Sprintf(format, args...)})
}

// pairing checks that the results directly follow their calls.
func (c *checker) pairing(k int, m *message.Message) {
	if m.Role == message.RoleTool {
		c.result(k, m)
		return
	}
	c.unanswered(k)
	c.open, c.pending = nil, nil
	if m.Role != message.RoleAssistant {
		return
	}
	c.caller = k
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != message.KindToolCall || p.CallID == "" { // function_call has no id and no such rule
			continue
		}
		if c.open == nil {
			c.open = map[string]bool{}
		}
		c.open[p.CallID] = false
		c.pending = append(c.pending, p.CallID)
	}
}

func (c *checker) result(k int, m *message.Message) {
	id, _ := resultID(*m)
	answered, known := c.open[id]
	switch {
	case id == "":
		c.add(CheckNoID, "", k, "message %d: a tool message without tool_call_id: %q", k+1, "Missing required parameter")
	case !known:
		c.add(CheckOrphan, id, k, "message %d answers %q: %q", k+1, id,
			"messages with role 'tool' must be a response to a preceeding message with 'tool_calls'")
	case answered:
		c.add(CheckRepeated, id, k, "message %d answers %q, which was answered already", k+1, id)
	default:
		c.open[id] = true
	}
}

// unanswered records the calls that have no results before message k.
func (c *checker) unanswered(k int) {
	for _, id := range c.pending {
		if !c.open[id] {
			c.add(CheckUnanswered, id, c.caller, "message %d calls %q, and message %d comes before its result: %q", c.caller+1, id, k+1,
				"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'")
		}
	}
}

// content checks that every message has content. An assistant message may consist
// only of calls.
func (c *checker) content(k int, m *message.Message) {
	says := false
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case message.KindReasoning:
		case message.KindToolResult:
			says = says || p.Text != ""
		default:
			says = true
		}
	}
	if !says {
		c.add(CheckEmpty, m.Fingerprint().String(), k, "message %d (%s) has no content: %q", k+1, m.Role, "Invalid value for 'content': expected a string, got null")
	}
}

// kept checks that an edited message differs only in its texts.
func (c *checker) kept(k int, was, is *message.Message) {
	if elements.Same(was, is) {
		return
	}
	if a, b := kindTexts(was, message.KindReasoning), kindTexts(is, message.KindReasoning); !slices.Equal(a, b) {
		c.add(CheckReasoning, was.Fingerprint().String(), k, "message %d: %q", k+1, "The reasoning_content in the thinking mode must be passed back to the API")
	}
	if was.Role == message.RoleTool && is.Role == message.RoleTool {
		return // only the model calls tools; masked results are skipped, because they are long
	}
	for _, key := range []string{"tool_calls", "function_call"} {
		if !bytes.Equal(member(was.Raw(), key), member(is.Raw(), key)) {
			c.add(CheckCalls, was.Fingerprint().String(), k, "message %d: %s differ from the ones that the model made", k+1, key)
		}
	}
}

func kindTexts(m *message.Message, kind message.Kind) (texts []string) {
	for i := range m.Parts {
		if m.Parts[i].Kind == kind {
			texts = append(texts, m.Parts[i].Text)
		}
	}
	return texts
}

// ends checks the beginning and the end of the conversation. A summary, which has
// the model's role, may replace one of our notices.
func (c *checker) ends(was, is []message.Message) {
	if len(was) == 0 {
		return
	}
	if len(is) == 0 {
		c.add(CheckEmpty, "", -1, "no message is left: %q", "Invalid 'messages': empty array")
		return
	}
	if _, notice := message.ParseNoticeText(was[0].Text()); instructs(&was[0]) && !notice && !instructs(&is[0]) {
		c.add(CheckFirst, "", 0, "the first message was of role %s and now is of role %s", was[0].Role, is[0].Role)
	}
	if last := len(is) - 1; is[last].Role == message.RoleAssistant {
		c.add(CheckLast, "", last, "the last message is the model's own")
	}
	if !hasUser(is) {
		c.add(CheckNoUser, "", -1, "no user message is left: %q", "No user query found in messages")
	}
}

func instructs(m *message.Message) bool {
	return m.Role == message.RoleSystem || m.Role == message.RoleDeveloper
}

func hasUser(msgs []message.Message) bool {
	for i := range msgs {
		if msgs[i].Role == message.RoleUser {
			return true
		}
	}
	return false
}
