package policy_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// ten counts ten tokens per message.
type ten struct{}

func (ten) Text(string) int             { return 10 }
func (ten) Message(message.Message) int { return 10 }

// oldest returns the remainder of a conversation: a system prompt, the given messages, and
// eight questions and answers of 160 tokens. The last two turns are kept.
func oldest(t *testing.T, goal, reserve int, before ...message.Message) policy.Partition {
	t.Helper()
	msgs := append([]message.Message{message.System("s")}, before...)
	for range 8 {
		msgs = append(msgs, message.User("q"), message.Assistant("a"))
	}
	v := policy.NewView(msgs, policy.Pins{message.RoleSystem}, ten{})
	return v.Oldest(policy.Keep{Turns: 2, Pairs: 1}, reserve, goal)
}

func TestOldestEndsAtTheGoal(t *testing.T) {
	for _, c := range []struct {
		name          string
		goal, reserve int
		last, start   int
	}{
		{"the fewest turns that suffice", 140, 0, 4, 5},
		{"no more turns at the exact goal", 130, 0, 4, 5},
		{"one token more takes another turn", 129, 0, 6, 7},
		{"the summary needs room", 140, 25, 6, 7},
		{"a goal below the rest takes all turns", 10, 0, 12, 13},
		{"no goal", -1, 0, 12, 13},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := oldest(t, c.goal, c.reserve)
			if got := p.Remainder[len(p.Remainder)-1]; got != c.last || p.Remainder[0] != 1 || len(p.Remainder) != c.last {
				t.Errorf("remainder %v, want 1 to %d", p.Remainder, c.last)
			}
			if p.Start != c.start {
				t.Errorf("the recent span begins at %d, want %d", p.Start, c.start)
			}
		})
	}
}

func TestOldestIncludesTheLastSummary(t *testing.T) {
	p := oldest(t, 160, 10, policy.NewSummary(1, "what was"))
	if want := []int{1, 2, 3}; !slices.Equal(p.Remainder, want) {
		t.Errorf("remainder %v, want %v: the room of the summary saves one round", p.Remainder, want)
	}
}

func TestOldestIncludesAResultWithoutCall(t *testing.T) {
	p := oldest(t, 180, 0, message.Assistant("a"), message.ToolResult("gone", "r"), message.ToolResult("gone", "r"))
	if want := []int{1, 2, 3}; !slices.Equal(p.Remainder, want) {
		t.Errorf("remainder %v, want %v", p.Remainder, want)
	}
}

// The last user message stays at any position, and its cost does not count as freed.
func TestOldestKeepsTheAnchor(t *testing.T) {
	msgs := []message.Message{message.User("go")}
	for i := range 8 {
		id := strconv.Itoa(i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "read", "{}")), message.ToolResult(id, "r"))
	}
	v := policy.NewView(msgs, nil, ten{})
	p := v.Oldest(policy.Keep{Turns: 2, Pairs: 1}, 0, v.Total()-41)
	if want := []int{1, 2, 3, 4, 5, 6}; !slices.Equal(p.Remainder, want) {
		t.Errorf("remainder %v, want %v: three rounds for 41 tokens", p.Remainder, want)
	}
}

// The answer of the first question is protected, so that no answer is removed with the
// question. The next question belongs to another turn, and stays if there is room.
func TestOldestKeepsAQuestionOfAnotherTurn(t *testing.T) {
	answer := message.Assistant("a")
	answer.Protected = true
	if p := oldest(t, 180, 0, message.User("q"), answer); !slices.Equal(p.Remainder, []int{1}) {
		t.Errorf("remainder %v, want the first question alone: message 1", p.Remainder)
	}
}

// It is enough to write the last summary again, if that saves as much as the goal needs.
func TestOldestTakesOnlyTheLastSummary(t *testing.T) {
	p := oldest(t, 170, 0, policy.NewSummary(1, "what was"))
	if want := []int{1}; !slices.Equal(p.Remainder, want) {
		t.Errorf("remainder %v, want %v", p.Remainder, want)
	}
}

// A call that stays, because it is among the last calls, saves nothing. The view would end
// above its goal if it counted.
func TestOldestDoesNotCountACallThatStays(t *testing.T) {
	msgs := []message.Message{message.User("q"), message.Assistant("", message.Call("1", "read", "{}")), message.ToolResult("1", "r")}
	for range 8 {
		msgs = append(msgs, message.User("q"), message.Assistant("a"))
	}
	v := policy.NewView(msgs, nil, ten{})
	p := v.Oldest(policy.Keep{Turns: 1, Pairs: 1}, 0, v.Total()-50)
	if want := []int{0, 3, 4, 5, 6}; !slices.Equal(p.Remainder, want) {
		t.Errorf("remainder %v, want %v: 50 tokens", p.Remainder, want)
	}
}
