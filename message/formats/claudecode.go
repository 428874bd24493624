package formats

import (
	"github.com/agentcompact/compact/message/anthropic"
)

// The session log of Claude Code has one event in each line. Lines of the types user
// and assistant hold a message of Anthropic's wire; an answer with several blocks is
// divided into several lines with the same message id. Lines of a side chain (a
// sub-agent) are not part of the conversation, unless there are no other lines: then
// the log is the sub-agent's own. If Claude Code compacted, its summary and the
// messages before it are messages like any others.

func claudeMessage(o object) bool {
	return (o.text("type") == "user" || o.text("type") == "assistant") && o.in("message").has("role")
}

func isClaudeCode(s *source) bool {
	return s.lines && s.any(claudeMessage)
}

func readClaudeCode(s *source) (*File, error) {
	r := claudeCode{source: s, composer: s.composer()}
	r.text(`{"messages":[`)
	for i := 0; i < len(s.at); {
		i = r.message(i)
	}
	r.text("]}")
	line := func(e object) (string, string) { return `{"type":"` + e.text("role") + `","message":`, "}" }
	return newLog("claude-code", anthropic.Wire, r.composer, s.list, wrapped(anthropic.Wire, "messages", line))
}

type claudeCode struct {
	*source
	*composer
	main map[bool]bool // main[true]: the log has lines of the conversation; main[false]: it has lines of side chains; nil = not computed yet
}

// isMessage reports whether a line holds a message of the conversation.
func (r *claudeCode) isMessage(o object) bool {
	if r.main == nil {
		r.main = map[bool]bool{}
		for _, o := range r.at {
			if claudeMessage(o) {
				r.main[!sidechain(o)] = true
			}
		}
	}
	return claudeMessage(o) && (!sidechain(o) || !r.main[true])
}

func sidechain(o object) bool { return string(o.by["isSidechain"].Of(o.data)) == "true" }

// message writes the message that begins with line i, if any, and returns the line
// after it.
func (r *claudeCode) message(i int) int {
	o := r.at[i]
	if !r.isMessage(o) {
		return i + 1
	}
	m := o.in("message")
	switch end := r.run(i); {
	case end > i+1:
		r.item(i)
		r.composer.text(`{"role":"assistant","content":[`)
		n := 0
		for k := i; k < end; k++ {
			if r.isMessage(r.at[k]) {
				n = r.blocks(k, r.at[k].in("message"), n, nil)
			}
		}
		r.composer.text("]}")
		return end
	case hasResultsAndOthers(m):
		for _, results := range []bool{true, false} {
			r.item(i)
			r.composer.text(`{"role":"user","content":[`)
			r.blocks(i, m, 0, func(kind string) bool { return (kind == "tool_result") == results })
			r.composer.text("]}")
		}
	default:
		r.composer.message(i, m.at)
	}
	return i + 1
}

// run returns the end of the lines that hold one message. Each of these lines
// has its id and a list of blocks. Lines without messages may come between
// them.
func (r *claudeCode) run(i int) int {
	first := r.at[i].in("message")
	end, id := i+1, first.text("id")
	if id == "" || first.text("role") != "assistant" || !first.is("content", '[') {
		return end
	}
	for k := end; k < len(r.at); k++ {
		if !r.isMessage(r.at[k]) {
			continue
		}
		m := r.at[k].in("message")
		if m.text("id") != id || !m.is("content", '[') {
			break
		}
		end = k + 1
	}
	return end
}

// blocks writes the wanted blocks of a message (nil: all). n is the number of blocks
// written before; blocks returns the new number.
func (r *claudeCode) blocks(unit int, m object, n int, want func(kind string) bool) int {
	for _, b := range m.list("content") {
		if want != nil && !want(objectAt(m.data, b).text("type")) {
			continue
		}
		if n++; n > 1 {
			r.composer.text(",")
		}
		r.copy(unit, b)
	}
	return n
}

// hasResultsAndOthers reports whether a message holds both results and other content, which
// makes it two messages.
func hasResultsAndOthers(m object) bool {
	results, rest := false, false
	for _, b := range m.list("content") {
		if objectAt(m.data, b).text("type") == "tool_result" {
			results = true
		} else {
			rest = true
		}
	}
	return results && rest && m.text("role") == "user"
}
