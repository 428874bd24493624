package compat_test

import (
	"slices"
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

// The notice needs room in the budget, but not within the limit for the history.
func TestTheNoticeDoesNotCountWithinTheLimitOfTheHistory(t *testing.T) {
	var msgs []message.Message
	for range 60 {
		msgs = append(msgs, message.User("word"), message.Assistant("word")) // three tokens each
	}
	msgs = append(msgs, message.User("Next."))
	v := policy.NewView(msgs, pins, words{})
	notice := words{}.Message(policy.NewNotice(len(msgs)))
	for room := 200; room < 210; room++ {
		v.Budget = budget(room)
		for most := room - notice - 3; most <= room+3; most++ {
			p, err := compat.History{MaxTokens: most}.Propose(t.Context(), v)
			if err != nil || len(p.Groups) != 1 {
				t.Fatalf("%d groups, error %v, want 1 group", len(p.Groups), err)
			}
			cut := p.Groups[0][0].Cut
			stays := 3 * (len(msgs) - len(cut.Removed))
			if limit := min(most, room-words{}.Message(*cut.New)); stays > limit || stays+3 <= limit {
				t.Errorf("room %d, at most %d: %d tokens stay, %d would fit", room, most, stays, limit)
			}
		}
	}
}

// The notice of a second cut states the number of messages that both cuts removed. The notice of
// the first cut does not count as a message.
func TestNoticeCountsTheMessagesOfEarlierCuts(t *testing.T) {
	msgs := []message.Message{policy.NewNotice(7)}
	for range 20 {
		msgs = append(msgs, message.User("word"), message.Assistant("word"))
	}
	v := policy.NewView(append(msgs, message.User("Next.")), pins, words{})
	v.Budget = budget(60)
	p, err := compat.History{}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) != 1 {
		t.Fatalf("%d groups, error %v, want 1 group", len(p.Groups), err)
	}
	cut := p.Groups[0][0].Cut
	if n, ok := policy.ParseNotice(*cut.New); !ok || cut.Removed[0] != 0 || n != 7+len(cut.Removed)-1 {
		t.Errorf("the notice states %d messages; %d are removed, the first notice states 7", n, len(cut.Removed))
	}
}

// letters counts one token per byte. A notice whose number has more digits costs more.
type letters struct{}

func (letters) Text(s string) int { return len(s) }

func (letters) Message(m message.Message) int { return len(m.Text()) + len(m.ResultText()) }

// A result without a call is removed with the messages before it. Its tokens are then room for
// the messages after it.
func TestTheRoomOfAResultWithoutACallIsUsed(t *testing.T) {
	msgs := []message.Message{message.User(text(100)), message.ToolResult("gone", text(4))}
	for range 5 {
		msgs = append(msgs, message.Assistant(text(10)), message.User(text(10)))
	}
	v := policy.NewView(msgs, pins, letters{})
	stays := v.Total() - v.Tokens[0] - v.Tokens[1]
	v.Budget = budget(stays + letters{}.Message(policy.NewNotice(2)))
	p, err := compat.History{}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) != 1 {
		t.Fatalf("%d groups, error %v, want 1 group", len(p.Groups), err)
	}
	if got := p.Groups[0][0].Cut.Removed; !slices.Equal(got, []int{0, 1}) {
		t.Errorf("the cut removes %v although messages 2 and later fit in addition to the notice", got)
	}
}
