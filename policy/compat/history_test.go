package compat_test

import (
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
)

// Copies of a system message are removed before any round of the conversation.
func TestHistoryUsesTheRoomOfCopies(t *testing.T) {
	rules := message.System(text(100))
	msgs := []message.Message{rules, message.User(text(50)), message.Assistant(text(50)), rules, message.User("And now?"), rules, message.Assistant("Done."), message.User("Next.")}
	v := policy.NewView(msgs, pins, words{})
	for room, want := range map[int]int{v.Total(): 0, v.Total() - 100: 0, v.Total() - 110: 1} {
		v.Budget = budget(room)
		p, err := compat.History{}.Propose(t.Context(), v)
		if err != nil || len(p.Groups) != want {
			t.Errorf("with room for %d of %d tokens: %d cuts, want %d (%v)", room, v.Total(), len(p.Groups), want, err)
		}
	}
}
