package transport

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// ownSummaries are how agents have their own history summarized. What a person
// says to one of them may begin alike, but does not ask for the form of the
// summary as the agent does, and comes with the agent's own instructions; where
// these are what is known, no tools come with them.
var ownSummaries = []struct {
	agent, begins string
	says          []string // what the text says, beside
	instructions  bool     // it is the instructions; else the last text of the last message
}{
	{agent: "Claude Code", begins: "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", says: []string{"<analysis>", "<summary>"}},
	{agent: "Claude Code", begins: "Your task is to create a detailed summary of", says: []string{"<analysis>", "<summary>"}},
	{agent: "Codex", begins: "You are performing a CONTEXT CHECKPOINT COMPACTION.", says: []string{"handoff summary"}},
	{agent: "Gemini CLI", begins: "You are a specialized system component responsible for dist", instructions: true},
	{agent: "OpenCode", begins: "You are a context summarization agent.", instructions: true},
	{agent: "pi", begins: "You are a context summarization assistant.", instructions: true},
}

// ownSummaryOf names the agent that has its history summarized with a request; "" =
// the request is none of these. tools says whether it brings any.
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

// asks reports whether a text begins so, and says all of that.
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

// lastText is what a message ends with: an agent may say it behind the result of
// a tool.
func lastText(m *message.Message) string {
	if n := len(m.Parts); n > 0 && m.Parts[n-1].Kind == message.KindText {
		return m.Parts[n-1].Text
	}
	return ""
}

// tooLong reports whether a request has no place in the model's window as it is:
// in what the provider said that it is, or else in what is known of the model. What
// is configured may be less than that, so that less is sent.
func (x *exchange) tooLong() bool {
	window := x.t.windows.of(x.lane())
	if window == 0 {
		window = x.t.m.ModelWindow(x.model)
	}
	if len(x.body)/2 <= window { // no token is shorter
		return false
	}
	plan, err := x.t.m.Plan(x.req.Context(), x.who.session, x.parsed.Messages(), x.options(0)...)
	if err != nil && plan == nil {
		return false
	}
	return plan.TokensIn > window
}

// summarizesItself leaves a request whole in which an agent has its own history
// summarized: a summary of a view would be one of what was left. The history
// that begins with it is another branch of the session. One that can't be sent
// whole is compacted like any other.
func (x *exchange) summarizesItself() bool {
	if x.own == "" {
		return false
	}
	x.sent = x.raw()
	p := &passed{"a summary of the history, for " + x.own + " itself", "it goes out whole"}
	x.t.voice.once(x.req.Context(), x.who.session+" "+x.who.branch, x.fault(opPass, p))
	return true
}
