package replay

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
)

// Raw sends the whole history, even above the window.
func Raw() Policy {
	return reference{"raw", func(Env) step { return func(h []message.Message) View { return whole(h) } }}
}

// Sliding replaces old tool results by a short placeholder, at each call again.
// A result is old if at least turns assistant messages follow it.
func Sliding(turns int) Policy {
	return reference{fmt.Sprintf("sliding:%d", turns), func(Env) step {
		return func(h []message.Message) View {
			v := whole(h)
			v.Messages = append([]message.Message(nil), h...)
			seen := 0
			for i := len(h) - 1; i >= 0; i-- {
				if seen >= turns && len(h[i].ResultText()) > len(slidingMark) {
					v.Messages[i] = masked(h[i])
				}
				if h[i].Role == message.RoleAssistant {
					seen++
				}
			}
			return v
		}
	}}
}

const slidingMark = "[old tool output removed]"

// masked returns a message with placeholders for its results. A result that
// can't be edited stays.
func masked(m message.Message) message.Message {
	for p := range m.Parts {
		if m.Parts[p].Kind != message.KindToolResult || len(m.Parts[p].Text) <= len(slidingMark) {
			continue
		}
		if next, err := m.WithPartText(p, slidingMark); err == nil {
			m = next
		}
	}
	return m
}

// DropOldest sends the system messages and, like a sliding window, the end of
// the history. That end begins with an assistant message and has as many
// assistant messages as turns says.
func DropOldest(turns int) Policy {
	return reference{fmt.Sprintf("drop:%d", turns), func(Env) step {
		return func(h []message.Message) View { return without(h, recentFrom(h, turns), nil) }
	}}
}

// Summarize makes a model write a summary when a prompt reaches a share of the
// window. The summary covers all messages except the system messages and the
// last six turns. The summary in the replay is a stand-in of 1500 tokens
// without content. It is billed as if the agent's own model had written it
// after the cached prefix.
func Summarize(share float64) Policy {
	return reference{fmt.Sprintf("summarize:%g", share), func(e Env) step {
		s := &summarizer{env: e, share: share}
		return s.view
	}}
}

const (
	summaryTurns  = 6    // turns that stay after a summary
	summaryTokens = 1500 // tokens of the stand-in
)

type summarizer struct {
	env     Env
	share   float64
	cut     int // number of messages that the summary replaces
	summary *message.Message
	number  int
}

func (s *summarizer) view(h []message.Message) View {
	v := without(h, s.cut, s.summary)
	size := s.env.Count.Messages(v.Messages)
	if float64(size) < s.share*float64(s.env.Window) {
		return v
	}
	cut := recentFrom(h, summaryTurns)
	if cut <= s.cut {
		return v
	}
	s.number++
	made := standIn(s.number)
	s.cut, s.summary = cut, &made
	v = without(h, s.cut, s.summary)
	v.Compacted, v.Reason = true, "usage"
	v.Summary = price.Usage{Cached: size, Output: summaryTokens}
	return v
}

// standIn returns a message of about summaryTokens tokens without information.
func standIn(number int) message.Message {
	return message.Assistant(fmt.Sprintf("Summary %d of what went before.%s", number, strings.Repeat(" the", summaryTokens-10)))
}

// recentFrom returns the index of the assistant message that is number turns from the end, or 0 if
// there are fewer.
func recentFrom(h []message.Message, turns int) int {
	at := len(h)
	for i := len(h) - 1; i >= 0 && turns > 0; i-- {
		if h[i].Role == message.RoleAssistant {
			at = i
			turns--
		}
	}
	if turns > 0 {
		return 0
	}
	return at
}

// without returns the system messages, the message instead, and the history
// from index from on.
func without(h []message.Message, from int, instead *message.Message) View {
	v := View{}
	for i := range h {
		if i == from && instead != nil {
			v.Messages, v.Sources = append(v.Messages, *instead), append(v.Sources, -1)
		}
		if r := h[i].Role; i >= from || r == message.RoleSystem || r == message.RoleDeveloper {
			v.Messages, v.Sources = append(v.Messages, h[i]), append(v.Sources, i)
		}
	}
	v.Compacted = false
	return v
}

func whole(h []message.Message) View { return View{Messages: h, Sources: identity(len(h))} }

type step func([]message.Message) View

// reference is a policy that needs no manager.
type reference struct {
	name  string
	begin func(Env) step
}

func (r reference) Name() string    { return r.name }
func (r reference) Reference() bool { return true }

func (r reference) Begin(_ context.Context, _ *Session, e Env) (Runner, error) {
	return plainPolicy{r.begin(e)}, nil
}

type plainPolicy struct{ next step }

func (p plainPolicy) View(ctx context.Context, h []message.Message) (View, error) {
	return p.next(h), ctx.Err()
}
func (p plainPolicy) Close(context.Context) error { return nil }
