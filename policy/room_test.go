package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// offered returns the view of an agent loop of calls with results of about size
// tokens.
func offered(calls, size int) *View {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Go on.")}
	for i := range calls {
		id := fmt.Sprint("c", i)
		msgs = append(msgs, message.Assistant("I look.", message.Call(id, "read", `{"path":"a.go"}`)), message.ToolResult(id, strings.Repeat("word ", size)))
	}
	return NewView(msgs, Pins{message.RoleSystem}, byWords{})
}

// byWords counts words.
type byWords struct{}

func (byWords) Message(m message.Message) int {
	return 4 + len(strings.Fields(m.Text()+" "+m.ResultText()))
}
func (byWords) Text(s string) int { return len(strings.Fields(s)) }

type charCost struct{}

func (charCost) Message(m message.Message) (n int) {
	for i := range m.Parts {
		n += runes(m.Parts[i].Text)
	}
	return n
}

func (charCost) Text(s string) int { return runes(s) }

// The first message of a conversation does not count as room for a stage: it is removed
// last, and some providers require it.
func TestSpareExcludesTheFirstMessage(t *testing.T) {
	rules := message.System("Be brief.")
	msgs := []message.Message{rules, message.User("a"), message.Assistant("b"), rules, message.User("c"), message.Assistant("d"), rules, message.User("e")}
	v := NewView(msgs, Pins{message.RoleSystem}, charCost{})
	if got := v.duplicates(); !slices.Equal(got, []int{3, 0}) {
		t.Fatalf("the removable copies are %v, want [3 0]", got)
	}
	if got := v.spare(); !slices.Equal(got, []int{3}) {
		t.Errorf("spare returns %v, want [3]", got)
	}
}

// A copy can be removed only if an unpinned message follows it. A message that a stage
// removes does not count.
func TestWithoutCountsOnlyRemovableCopies(t *testing.T) {
	rules := message.Message{Role: message.RoleDeveloper, Parts: []message.Part{{Kind: message.KindText, Text: "Be brief."}}}
	msgs := []message.Message{message.User("a"), rules, message.Assistant("b"), rules, message.Assistant("and c"), rules}
	v := NewView(msgs, Pins{message.RoleDeveloper}, charCost{})
	if got := v.duplicates(); !slices.Equal(got, []int{1, 3}) {
		t.Fatalf("the removable copies are %v, want [1 3]", got)
	}
	both := v.Total() - 2*v.Tokens[1]
	if got := v.Without(nil); got != both {
		t.Errorf("%d tokens are left, want %d", got, both)
	}
	if got, want := v.Without([]int{4}), both-v.Tokens[4]+v.Tokens[3]; got != want {
		t.Errorf("%d tokens are left without the last answer, want %d", got, want)
	}
}

// If the configured stages could have made the view fit, one of them failed, and no stage
// is missing.
func TestMissingReturnsNoStageIfOneFailed(t *testing.T) {
	v := offered(12, 100)
	v.Keep, v.reach = Keep{Turns: 1, Pairs: 1}, &reach{takers: []Taker{oldRounds{}}}
	v.Budget = Budget{Max: v.Floor(), Cap: v.Floor()}
	if got := v.missing(); len(got) > 0 {
		t.Errorf("%v are missing, want none", got)
	}
	v.reach = &reach{}
	if got := v.missing(); !slices.Equal(got, []string{"summarize"}) {
		t.Errorf("%v are missing, want summarize", got)
	}
}

// Copies that can't be removed make no room for a round.
func TestShrinkIgnoresCopiesThatCannotBeRemoved(t *testing.T) {
	rules := message.Message{Role: message.RoleDeveloper, Parts: []message.Part{{Kind: message.KindText, Text: strings.Repeat("brief ", 50)}}}
	call := func(id string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "read", "{}")), message.ToolResult(id, strings.Repeat("word ", 100))}
	}
	end := message.Assistant("the end")
	end.Protected = true
	msgs := slices.Concat([]message.Message{message.User("go on")}, call("a"), call("b"),
		[]message.Message{rules, message.Assistant(strings.Repeat("text ", 50)), rules, message.Assistant(strings.Repeat("text ", 50)), rules, end})
	v := NewView(msgs, Pins{message.RoleDeveloper}, byWords{})
	v.Keep = Keep{Turns: 1, Pairs: 2}
	if len(v.spare()) != 2 || v.kept(v.Keep) >= v.Total() {
		t.Fatalf("copies %v, %d of %d tokens are kept", v.spare(), v.kept(v.Keep), v.Total())
	}
	v.Budget = Budget{Cap: v.kept(v.Keep) - 60}
	if got := v.Shrink(0); got != (Keep{Turns: 1, Pairs: 1}) {
		t.Errorf("Shrink returns %+v, which requires the removal of copies that must stay", got)
	}
}
