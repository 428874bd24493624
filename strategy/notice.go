package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// noticeTag names the element in which a harness reports that a background task ended.
const noticeTag = "task-notification"

// noticeAdvice lists beginnings of the text that a harness writes after this element.
var noticeAdvice = []string{"Full transcript available at: ", "Read the output file to retrieve the result: "}

// backgroundNotice reports whether a message contains only notices that background tasks
// ended.
func backgroundNotice(t string) bool {
	if !strings.HasPrefix(t, "<"+noticeTag+">") {
		return false
	}
	after := strings.TrimSpace(t[strings.LastIndex(t, "</"+noticeTag+">")+1:])
	_, after, _ = strings.Cut(after, ">")
	after = strings.TrimSpace(after)
	return after == "" || prose.BeginsAny(after, noticeAdvice) && !strings.Contains(after, "\n")
}

// ended returns the calls that a harness reports as ended in a message of the user's
// role. Each call has the arguments of the call that started the task, and the report
// as its result.
func (b *reader) ended(text string) (out []Call) {
	for {
		_, rest, ok := strings.Cut(text, "<"+noticeTag+">")
		if !ok {
			return out
		}
		end := strings.LastIndex(rest, "</"+noticeTag+">")
		if next := strings.Index(rest, "<"+noticeTag+">"); next >= 0 && end > next {
			end = strings.LastIndex(rest[:next], "</"+noticeTag+">")
		}
		if end < 0 {
			return out
		}
		if c, ok := b.endOf(rest[:end]); ok {
			out = append(out, c)
		}
		text = rest[end:]
	}
}

// endOf returns the call that a notice reports as ended. It skips commands if the notice
// states no status, and commands that are not checks: their changes are read from the
// call that started them.
func (b *reader) endOf(notice string) (Call, bool) {
	id, says, report := within(notice, "task-id"), within(notice, "summary"), within(notice, "result")
	c := Call{Tool: "agent", Exit: -1, Answered: true, broke: within(notice, "status") != "completed"}
	if began := b.started(id); began != nil {
		began.over = true
		c.Tool, c.Args = began.Tool, began.Args
	} else if what := between(says, `gent "`, `"`); what != "" {
		c.Args = []Arg{{"description", what}}
	} else {
		return c, false
	}
	if c.Command() != "" {
		status := between(says, "(exit code ", ")")
		c.Result, c.broke = "Exit code: "+status, false
		return c, status != "" && c.Check()
	}
	c.Result = report
	if c.broke || report == "" {
		c.Result = says
	}
	return c, c.deed() == deedSend && c.Result != ""
}

// started returns the call that started a background task, nil if no call did.
func (b *reader) started(id string) *Call {
	if id == "" {
		return nil
	}
	for i := len(b.h.Steps) - 1; i >= 0; i-- {
		for k := range b.h.Steps[i].Calls {
			if c := &b.h.Steps[i].Calls[k]; c.taskID() == id {
				return c
			}
		}
	}
	return nil
}

// within returns the text of an element, "" if there is none. The text may contain tags
// of the same name.
func within(text, name string) string {
	_, rest, ok := strings.Cut(text, "<"+name+">")
	end := strings.LastIndex(rest, "</"+name+">")
	if !ok || end < 0 {
		return ""
	}
	return strings.TrimSpace(rest[:end])
}

// between returns the text between the first before and the next after, "" if
// one of them is missing.
func between(text, before, after string) string {
	_, rest, ok := strings.Cut(text, before)
	in, _, closed := strings.Cut(rest, after)
	if !ok || !closed {
		return ""
	}
	return in
}
