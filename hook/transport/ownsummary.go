package transport

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// ownSummaries describes the requests by which agents summarize their own
// history. A user's text can have the same beginning, but it does not ask for the
// agent's summary format. An agent that is recognized by its instructions sends
// no tools with them.
var ownSummaries = []struct {
	agent, begins string
	says          []string // further texts that it must contain
	instructions  bool     // begins is the beginning of the instructions, not of the last text of the last message
}{
	{agent: "Claude Code", begins: "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", says: []string{"<analysis>", "<summary>"}},
	{agent: "Claude Code", begins: "Your task is to create a detailed summary of", says: []string{"<analysis>", "<summary>"}},
	{agent: "Codex", begins: "You are performing a CONTEXT CHECKPOINT COMPACTION.", says: []string{"handoff summary"}},
	{agent: "Gemini CLI", begins: "You are a specialized system component responsible for dist", instructions: true},
	{agent: "OpenCode", begins: "You are a context summarization agent.", instructions: true},
	{agent: "pi", begins: "You are a context summarization assistant.", instructions: true},
}

// ownSummaryOf returns the agent that summarizes its history with a request; "" =
// none. tools reports whether the request declares tools.
func ownSummaryOf(msgs []message.Message, tools func() bool) string {
	if len(msgs) == 0 {
		return ""
	}
	instructions, last := &msgs[0], &msgs[len(msgs)-1]
	for _, d := range ownSummaries {
		switch {
		case d.instructions && instructions.IsUser(), !d.instructions && last.Role == message.RoleAssistant:
			continue
		case d.instructions && anyText(instructions, func(s string) bool { return asks(s, d.begins, d.says) }) && !tools(),
			!d.instructions && asks(lastText(last), d.begins, d.says):
			return d.agent
		}
	}
	return ""
}

// asks reports whether a text has the prefix begins and contains all of says.
func asks(text, begins string, says []string) bool {
	text = strings.TrimLeft(text, " \n")
	if !strings.HasPrefix(text, begins) {
		return false
	}
	for _, s := range says {
		if !strings.Contains(text, s) {
			return false
		}
	}
	return true
}

func anyText(m *message.Message, is func(string) bool) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == message.KindText && is(m.Parts[i].Text) {
			return true
		}
	}
	return false
}

// lastText returns the last part of a message if it is text. An agent can append
// it to a tool result.
func lastText(m *message.Message) string {
	if n := len(m.Parts); n > 0 && m.Parts[n-1].Kind == message.KindText {
		return m.Parts[n-1].Text
	}
	return ""
}

// tooLong reports whether a request exceeds the model's window: the window that the
// provider reported, or otherwise the known window. The configured window does not
// count, because it can be smaller on purpose.
func (x *exchange) tooLong() bool {
	window := x.t.windows.of(x.lane())
	if window == 0 {
		window = x.t.m.ModelWindow(x.model)
	}
	if len(x.body)/2 <= window { // a token has at least two bytes on average
		return false
	}
	plan, err := x.t.m.Plan(x.req.Context(), x.who.session, x.parsed.Messages(), x.options(0)...)
	if err != nil && plan == nil {
		return false
	}
	return plan.TokensIn > window
}

// summarizesItself reports whether an agent asks for a summary of its own
// history. Such a request stays whole, because the summary should cover
// everything. The history that begins with that summary is another branch of the
// session. A request that is too long is nevertheless compacted.
func (x *exchange) summarizesItself() bool {
	if x.own == "" {
		return false
	}
	x.sent = x.raw()
	p := &passed{"a summary of the history, for " + x.own + " itself", "it is sent whole"}
	x.t.voice.once(x.req.Context(), x.who.session+" "+x.who.branch, x.fault(opPass, p))
	return true
}
