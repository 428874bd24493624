package transport

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// ownSummaries are how agents begin that have their own history summarized: in the
// instructions, or in the last message.
var ownSummaries = []struct {
	agent, begins string
	last          bool // in the last message
}{
	{"Claude Code", "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", true},
	{"Claude Code", "Your task is to create a detailed summary of", true},
	{"Codex", "You are performing a CONTEXT CHECKPOINT COMPACTION.", true},
	{"Gemini CLI", "You are a specialized system component responsible for dist", false},
	{"OpenCode", "You are a context summarization agent.", false},
	{"pi", "You are a context summarization assistant.", false},
}

// ownSummaryOf names the agent that has its history summarized with a request; "" =
// the request is none of these.
func ownSummaryOf(msgs []message.Message) string {
	if len(msgs) == 0 {
		return ""
	}
	instructions, last := &msgs[0], &msgs[len(msgs)-1]
	for _, d := range ownSummaries {
		switch {
		case d.last && last.Role != message.RoleAssistant && begins(last, d.begins):
			return d.agent
		case !d.last && !instructions.IsUser() && begins(instructions, d.begins):
			return d.agent
		}
	}
	return ""
}

// begins reports whether a text of a message begins so. An agent may say it
// behind the result of a tool.
func begins(m *message.Message, with string) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.KindText && strings.HasPrefix(strings.TrimLeft(p.Text, " \n"), with) {
			return true
		}
	}
	return false
}

// summarizesItself leaves a request whole in which an agent has its own history
// summarized: a summary of a view would be one of what was left. The history
// that begins with it is another branch of the session.
func (x *exchange) summarizesItself() bool {
	if x.own == "" {
		return false
	}
	x.sent = x.raw()
	p := &passed{"a summary of the history, for " + x.own + " itself", "it goes out whole"}
	x.t.voice.once(x.req.Context(), x.who.session+" "+x.who.branch, x.fault(opPass, p))
	return true
}
