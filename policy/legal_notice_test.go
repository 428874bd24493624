package policy_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// cutWithout is a stage that removes messages without a replacement.
type cutWithout struct{ at []int }

func (cutWithout) Name() string { return "cut" }

func (s cutWithout) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	return policy.Proposal{Groups: [][]policy.Edit{{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: s.at, Recent: s.at[len(s.at)-1] + 1}}}}}, nil
}

// If the provider requires a message in front of an answer, the engine adds a notice. Its
// number includes the numbers of earlier notices, but not the notices themselves.
func TestRequiredNoticeIncludesTheNumbersOfEarlierNotices(t *testing.T) {
	msgs := []message.Message{
		message.System("s"), policy.NewNotice(7), message.Assistant(text(50)), message.Assistant(text(50)), message.User("now"),
	}
	q := reduce.Request{Conversation: reduce.NewConversation(msgs, pins, nil), Budget: budget(10_000),
		Legal: func(view []message.Message, _ []int) error {
			if view[1].Role == message.RoleAssistant {
				return errors.New("the model can't speak first")
			}
			return nil
		}}
	out, err := engine(reduce.Step{Stage: cutWithout{[]int{1, 2}}, Goal: policy.All}).Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := policy.ParseNotice(out.Conversation.Messages()[1]); !ok || n != 8 {
		t.Errorf("the notice is %q, want one for 8 messages", out.Conversation.Messages()[1].Text())
	}
}

// Only a system message that consists of one notice states how many messages were removed.
func TestOnlyAWholeMessageIsANotice(t *testing.T) {
	notice := policy.NewNotice(8)
	with := func(change func(*message.Message)) message.Message {
		m := notice.Copy()
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		m  message.Message
		ok bool
	}{
		"a notice":       {notice, true},
		"of the user":    {with(func(m *message.Message) { m.Role = message.RoleUser }), false},
		"protected":      {with(func(m *message.Message) { m.Protected = true }), false},
		"with more text": {with(func(m *message.Message) { m.Parts = append(m.Parts, m.Parts[0]) }), false},
		"without a text": {with(func(m *message.Message) { m.Parts = nil }), false},
	} {
		if n, ok := policy.ParseNotice(c.m); ok != c.ok || ok && n != 8 {
			t.Errorf("%s: %d messages, %v, want %v", name, n, ok, c.ok)
		}
	}
}
