package reduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// questions returns rounds of one question and one answer, each of a hundred units.
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
	e := Engine{Steps: []Step{{Stage: policy.Drop{NoNotice: true}}}, Keep: policy.Keep{Turns: 1, Pairs: 1}, Cost: cost}
	c := NewConversation(questions(10), nil, nil)
	return e.Run(context.Background(), Request{
		Conversation: c, Budget: policy.Budget{Max: 5000, Cap: 5000, Trigger: 5000, Target: budget}, Legal: legal,
	})
}

// made reports whether a message has the form of a summary or notice made by a
// stage.
func made(m *message.Message) bool {
	_, notice := policy.ParseNotice(*m)
	return notice || m.Role != message.RoleUser && policy.IsSummary(*m)
}

type charCost struct{}

func (charCost) Message(m message.Message) (n int) {
	for i := range m.Parts {
		n += utf8.RuneCountInString(m.Parts[i].Text)
	}
	return n
}

func (charCost) Text(s string) int { return utf8.RuneCountInString(s) }

func TestEngineTriesFewerGroupsIfTheProviderRefusesTheView(t *testing.T) {
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
				return fmt.Errorf("message %d came from input %d, but sources say %d", i, want, src)
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
		t.Errorf("pass %+v; want an error for the first try, and the other groups applied", p)
	}
	if asked < 2 {
		t.Errorf("Legal was called %d times", asked)
	}
}

func TestEngineKeepsTheHistoryIfTheProviderRefusesEveryView(t *testing.T) {
	out, err := dropping(t, 900, func([]message.Message, []int) error { return errors.New("never") })
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Conversation.Messages()) != 21 || out.Changed() {
		t.Errorf("%d messages, changed %v", len(out.Conversation.Messages()), out.Changed())
	}
	if p := out.Passes[0]; p.Err == nil || !p.Discarded {
		t.Errorf("pass %+v; want its edits discarded", p)
	}
	never := func([]message.Message, []int) error { return errors.New("never") }
	e := Engine{Steps: []Step{{Stage: policy.Drop{NoNotice: true}, Goal: policy.ToBudget}}, Keep: policy.Keep{Turns: 1, Pairs: 1}, Cost: charCost{}}
	_, err = e.Run(context.Background(), Request{Conversation: NewConversation(questions(10), nil, nil), Budget: policy.Budget{Max: 900, Cap: 900, Trigger: 900, Target: 900}, Legal: never})
	if err == nil || !strings.Contains(err.Error(), "the provider would refuse the remaining messages") {
		t.Errorf("the refusal does not name the provider's rule: %v", err)
	}
}

// Edits that the provider refuses leave the view as it was, the costs of its messages included:
// the caller keeps that view for the next call.
func TestRefusedEditsLeaveTheViewUnchanged(t *testing.T) {
	msgs := []message.Message{message.User("go")}
	for i := range 6 {
		id := string(rune('a' + i))
		msgs = append(msgs, message.Assistant("", message.Call(id, "read", "{}")), message.ToolResult(id, strings.Repeat("r", 500)))
	}
	e := Engine{Steps: []Step{{Stage: policy.Mask{WindowTurns: 1}, Goal: policy.All}}, Cost: charCost{}}
	c := NewConversation(msgs, nil, nil)
	q := Request{Conversation: c, Budget: policy.Budget{Max: 5000, Cap: 5000, Trigger: 5000, Target: 900}, Legal: func([]message.Message, []int) error { return errors.New("never") }}
	q.View = e.View(c, q)
	want := slices.Clone(q.View.Tokens)
	out, err := e.Run(t.Context(), q)
	if err != nil || len(out.Passes) != 1 || !out.Passes[0].Discarded {
		t.Fatalf("%v, passes %+v", err, out.Passes)
	}
	if !slices.Equal(out.View.Tokens, want) || !slices.Equal(q.View.Tokens, want) {
		t.Errorf("the messages cost %v, before %v", out.View.Tokens, want)
	}
}

// A provider that requires a user message first refuses a pinned answer in front of the
// summary. The summary then comes first, and the ledger records this order.
func TestEngineMovesPinnedRoundsBehindTheAnchorIfTheUserMustSpeakFirst(t *testing.T) {
	note := message.Assistant("Note.")
	note.Protected = true
	msgs := []message.Message{message.System("s"), message.User(strings.Repeat("q", 100)), message.Assistant(strings.Repeat("a", 300)), note}
	msgs = append(msgs, message.User("Now."), message.Assistant("Recent."))
	conv := NewConversation(msgs, policy.Pins{message.RoleSystem}, nil)
	userFirst := func(view []message.Message, _ []int) error {
		if first := view[1]; first.Role != message.RoleUser && !policy.IsSummary(first) {
			return errors.New("the user speaks first")
		}
		return nil
	}
	e := Engine{Steps: []Step{{Stage: summing{}}}, Pins: policy.Pins{message.RoleSystem}, Keep: policy.Keep{Turns: 1, Pairs: 1}, Cost: charCost{}}
	out, err := e.Run(context.Background(), Request{Conversation: conv, Budget: policy.Budget{Max: 1000, Cap: 1000, Trigger: 800, Target: 300}, Legal: userFirst})
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

// summing is a stage that summarizes messages 1 and 2.
type summing struct{}

func (summing) Name() string { return "summing" }
func (summing) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	m := policy.NewSummary(1, "Short.")
	return policy.Proposal{Groups: [][]policy.Edit{{{Decision: policy.Summarized, Cut: &policy.Cut{
		Removed: []int{1, 2}, Recent: 5, New: &m, Summary: &policy.SummaryInfo{Text: m.Text()},
	}}}}}, nil
}

// between is the rule of a provider that requires a user message first, and in the middle
// of the conversation instructions only between the user and the model.
func between(view []message.Message, _ []int) error {
	model := func(m message.Message) bool { return m.Role == message.RoleAssistant && !policy.IsSummary(m) }
	for i := 1; i < len(view); i++ {
		behind := i > 1 && view[i-1].Role == message.RoleSystem // any of several instructions may be at this place
		switch before, m := view[i-1], view[i]; {
		case i == 1 && (model(m) || m.Role == message.RoleSystem && !made(&m)):
			return errors.New("the user speaks first")
		case made(&m):
		case m.Role == message.RoleSystem && !behind && model(before):
			return errors.New("instructions come behind the user")
		case i > 1 && before.Role == message.RoleSystem && !made(&before) && m.IsUser():
			return errors.New("instructions come before the model")
		}
	}
	return nil
}

// Instructions that the cut moves must come after the kept question, with any other
// removals. The ledger records this order, and a replay on a longer history uses it.
func TestEnginePutsInstructionsBetweenTheUserAndTheModel(t *testing.T) {
	long := func(role string) string { return strings.Repeat(role, 200) }
	rule := func(n int) message.Message { return message.System(fmt.Sprint("Rule ", n)) }
	for name, c := range map[string]struct {
		stage policy.Stage
		keep  policy.Keep
		msgs  []message.Message
		want  []int
	}{
		"before the model's next message": {summing{}, policy.Keep{Turns: 1, Pairs: 1},
			[]message.Message{message.System("s"), message.User(long("q")), message.Assistant(long("a")), rule(1), message.Assistant("b"), message.User("Now."), rule(2), message.Assistant("c")},
			[]int{0, -1, 4, 5, 3, 6, 7}},
		"after the last user message": {policy.Drop{NoNotice: true}, policy.Keep{Turns: 1, Pairs: 1},
			[]message.Message{message.System("s"), message.User(long("q")), rule(1), message.Assistant(long("a")), message.User("Now."), rule(2)},
			[]int{0, 4, 2, 5}},
		"after the only user message of a loop": {policy.Drop{NoNotice: true}, policy.Keep{Turns: 1, Pairs: 1},
			[]message.Message{message.System("s"), message.User("q"), rule(1), message.Assistant(long("a")), message.Assistant(long("b")), message.Assistant("c")},
			[]int{0, 1, 2, 5}},
		"with a notice if no user message is left": {bareCutStage{}, policy.Keep{Turns: 1, Pairs: 1},
			[]message.Message{message.System("s"), message.User(long("q")), message.Assistant(long("a")), message.Assistant("b"), message.User("Now.")},
			[]int{0, -1, 3, 4}},
	} {
		e := Engine{Steps: []Step{{Stage: c.stage}}, Pins: policy.Pins{message.RoleSystem}, Keep: c.keep, Cost: charCost{}}
		conv := NewConversation(c.msgs, e.Pins, nil)
		out, err := e.Run(context.Background(), Request{Conversation: conv, Budget: policy.Budget{Max: 1000, Cap: 1000, Trigger: 300, Target: 150}, Legal: between})
		if err != nil || len(out.Passes) == 0 {
			t.Fatalf("%s: %v, %d passes", name, err, len(out.Passes))
		}
		if got := out.Conversation.Sources(); !slices.Equal(got, c.want) {
			t.Errorf("%s: the view is of messages %v (%v), want %v", name, got, out.Passes[0].Err, c.want)
			continue
		}
		grown := append(slices.Clone(c.msgs), message.Assistant("d"), message.User("e"))
		again, err := NewConversation(grown, e.Pins, nil).Replay(out.Passes[0].Recipe)
		if want := append(slices.Clone(c.want), len(c.msgs), len(c.msgs)+1); err != nil || !slices.Equal(again.Sources(), want) {
			t.Errorf("%s: replayed: %v, %v, want %v", name, again.Sources(), err, want)
		}
	}
}

// bareCutStage is a stage that removes messages 1 and 2 without a replacement.
type bareCutStage struct{}

func (bareCutStage) Name() string { return "bare" }
func (bareCutStage) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	return policy.Proposal{Groups: [][]policy.Edit{{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{1, 2}, Recent: 3}}}}}, nil
}

// A notice that replaces an earlier notice counts the messages of both cuts. A summary that
// it replaces counts as one message.
func TestNoticeForTheProviderCountsEarlierNotices(t *testing.T) {
	for want, earlier := range map[int]message.Message{8: policy.NewNotice(7), 2: policy.NewSummary(1, "What happened.")} {
		msgs := []message.Message{message.System("s"), earlier, message.Assistant(strings.Repeat("a", 400)), message.Assistant("b"), message.User("Now.")}
		e := Engine{Steps: []Step{{Stage: bareCutStage{}}}, Pins: policy.Pins{message.RoleSystem}, Keep: policy.Keep{Turns: 1, Pairs: 1}, Cost: charCost{}}
		out, err := e.Run(t.Context(), Request{
			Conversation: NewConversation(msgs, e.Pins, nil), Budget: policy.Budget{Max: 1000, Cap: 1000, Trigger: 300, Target: 150}, Legal: between,
		})
		if err != nil || !slices.Equal(out.Conversation.Sources(), []int{0, -1, 3, 4}) {
			t.Fatalf("the view is of messages %v, %v", out.Conversation.Sources(), err)
		}
		if n, ok := policy.ParseNotice(out.Conversation.Messages()[1]); !ok || n != want {
			t.Errorf("the notice says %d messages, want %d", n, want)
		}
	}
}
