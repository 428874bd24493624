package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// rounds of one question and one answer, a hundred units each.
func questions(n int) []message.Message {
	var msgs []message.Message
	for range n {
		msgs = append(msgs, message.User(strings.Repeat("q", 100)), message.Assistant(strings.Repeat("a", 100)))
	}
	return append(msgs, message.User("last"))
}

func dropping(t *testing.T, budget int, legal func([]message.Message, []int) error) (*Outcome, error) {
	t.Helper()
	cost := charCost{}
	e := Engine{Steps: []Step{{Stage: Drop{NoNotice: true}}}, Keep: Keep{1, 1}, Cost: cost}
	c := NewConversation(questions(10), nil, nil)
	return e.Run(context.Background(), Request{
		Conversation: c, Budget: Budget{Max: 5000, Cap: 5000, Trigger: 5000, Target: budget}, Legal: legal,
	})
}

type charCost struct{}

func (charCost) Message(m message.Message) int { return chars(m) }
func (charCost) Text(s string) int             { return runes(s) }

func TestEngineTriesFewerGroupsWhereTheViewWouldBeRefused(t *testing.T) {
	free, err := dropping(t, 900, nil)
	if err != nil {
		t.Fatal(err)
	}
	least := len(free.Conversation.Messages()) + 3
	asked := 0
	out, err := dropping(t, 900, func(view []message.Message, sources []int) error {
		asked++
		for i, src := range sources {
			if want := 21 - len(view) + i; src != want {
				return fmt.Errorf("message %d came from %d, said to be from %d", i, want, src)
			}
		}
		if len(view) < least {
			return errors.New("too short")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(out.Conversation.Messages()); got != least {
		t.Errorf("%d messages are left of %d, want %d: the shortest view that is legal", got, 21, least)
	}
	if p := out.Passes[0]; p.Err == nil || p.Discarded || p.Applied == 0 {
		t.Errorf("pass %+v; want what was tried first to be reported, and the rest applied", p)
	}
	if asked < 2 {
		t.Errorf("asked %d times", asked)
	}
}

func TestEngineLeavesTheHistoryAloneWhereEveryViewWouldBeRefused(t *testing.T) {
	out, err := dropping(t, 900, func([]message.Message, []int) error { return errors.New("never") })
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Conversation.Messages()) != 21 || out.Changed() {
		t.Errorf("%d messages, changed %v", len(out.Conversation.Messages()), out.Changed())
	}
	if p := out.Passes[0]; p.Err == nil || !p.Discarded {
		t.Errorf("pass %+v; want it discarded", p)
	}
}

// A wire that wants the user to speak first refuses a pinned answer in front
// of the summary. The summary goes first then, and the ledger says so.
func TestEnginePutsPinnedRoundsBehindTheAnchorWhereTheUserMustSpeakFirst(t *testing.T) {
	note := message.Assistant("Note.")
	note.Protected = true
	msgs := []message.Message{message.System("s"), message.User(strings.Repeat("q", 100)), message.Assistant(strings.Repeat("a", 300)), note}
	msgs = append(msgs, message.User("Now."), message.Assistant("Recent."))
	conv := NewConversation(msgs, Pins{message.RoleSystem}, nil)
	userFirst := func(view []message.Message, _ []int) error {
		if first := view[1]; first.Role != message.RoleUser && !IsSummary(first) {
			return errors.New("the user speaks first")
		}
		return nil
	}
	e := Engine{Steps: []Step{{Stage: summing{}}}, Pins: Pins{message.RoleSystem}, Keep: Keep{1, 1}, Cost: charCost{}}
	out, err := e.Run(context.Background(), Request{Conversation: conv, Budget: Budget{Max: 1000, Cap: 1000, Trigger: 800, Target: 300}, Legal: userFirst})
	if err != nil {
		t.Fatal(err)
	}
	want := []int{0, -1, 4, 3, 5}
	if got := out.Conversation.Sources(); !slices.Equal(got, want) || out.Passes[0].Err != nil {
		t.Fatalf("the view is of messages %v (%v), want %v", got, out.Passes[0].Err, want)
	}
	again, err := conv.Replay(out.Passes[0].Recipe)
	if err != nil || !slices.Equal(again.Sources(), want) {
		t.Errorf("replayed: %v, %v", again.Sources(), err)
	}
}

// summing summarises the messages 1 and 2.
type summing struct{}

func (summing) Name() string { return "summing" }
func (summing) Propose(context.Context, *View) (Proposal, error) {
	m := NewSummary(1, "Short.")
	return Proposal{Groups: [][]Edit{{{Decision: Summarised, Cut: &Cut{
		Removed: []int{1, 2}, Recent: 5, New: &m, Summary: &SummaryInfo{Text: m.Text()},
	}}}}}, nil
}
