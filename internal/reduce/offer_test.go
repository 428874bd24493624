package reduce

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// loopOf returns an agent loop of calls with results of about size tokens.
func loopOf(calls, size int) []message.Message {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Go on.")}
	for i := range calls {
		id := fmt.Sprint("c", i)
		msgs = append(msgs, message.Assistant("I look.", message.Call(id, "read", `{"path":"a.go"}`)), message.ToolResult(id, strings.Repeat("word ", size)))
	}
	return msgs
}

func offered(calls, size int) *policy.View {
	return policy.NewView(loopOf(calls, size), policy.Pins{message.RoleSystem}, byWords{})
}

// byWords counts words.
type byWords struct{}

func (byWords) Message(m message.Message) int {
	return 4 + len(strings.Fields(m.Text()+" "+m.ResultText()))
}
func (byWords) Text(s string) int { return len(strings.Fields(s)) }

func TestCutOfferMatchesTheRemainingTokens(t *testing.T) {
	v := offered(30, 500)
	v.Keep.Pairs, v.Fixed = 4, 70
	all := OffersOf(v, policy.Mask{})
	o, ok := all.Cut(10, 0, 1000)
	if !ok {
		t.Fatal("nothing is offered")
	}
	left := v.Fixed
	for i, n := range v.Tokens {
		if i < 2 || v.TurnOf(i) > 20 {
			left += n
		}
	}
	if o.Level != left+1000 || o.Gone != v.Total()-left || o.Prefix != v.Fixed+v.Tokens[0]+v.Tokens[1] {
		t.Errorf("offer %+v, but %d tokens stay", o, left)
	}
	if masked, ok := all.Cut(10, 5, 1000); !ok || masked.Level >= o.Level || masked.Needs <= o.Needs || masked.Prefix != o.Prefix {
		t.Errorf("offer with placeholders %+v, without placeholders %+v", masked, o)
	}
	if want := (policy.Keep{Turns: 10, Pairs: 4}); o.Keep != want || !o.Cut || o.Mask != 0 {
		t.Errorf("offer %+v, want the keep counts %+v", o, want)
	}
	if o, _ := all.Cut(10, 5, 1000); o.Mask != 5 {
		t.Errorf("offer %+v, want masks from an age of 5 turns on", o)
	}
	if _, ok := all.Cut(10, 0, o.Gone); ok {
		t.Error("a summary that costs as much as the removed messages is offered")
	}
	if _, ok := all.Cut(99, 0, 1000); ok {
		t.Error("a cut of nothing is offered")
	}
	if _, ok := all.Cut(30, 0, 1000); ok {
		t.Error("a cut of nothing is offered")
	}
	if _, ok := all.Cut(29, 0, 10_000); ok {
		t.Error("a summary that costs more than the removed messages is offered")
	}
}

func TestMaskOfferApproximatesTheRemainingTokens(t *testing.T) {
	v := offered(30, 500)
	m := policy.Mask{KeepFirst: 2, Turns: 10, MinTokens: 50}
	v.Keep = policy.Keep{Turns: 6, Pairs: 4}
	all := OffersOf(v, m)
	o, ok := all.Mask(10)
	if !ok {
		t.Fatal("nothing is offered")
	}
	p, err := m.Propose(t.Context(), v)
	if err != nil || len(p.Groups) != 1 {
		t.Fatal(err)
	}
	if want := (policy.Keep{Turns: 10, Pairs: 4}); o.Keep != want || o.Cut || o.Prefix != v.Tokens[0]+v.Tokens[1]+2*(v.Tokens[2]+v.Tokens[3]) {
		t.Errorf("offer %+v, want the keep counts %+v, and a change of the third result", o, want)
	}
	if edits := len(p.Groups[0]); o.Gone != edits*(504-placeholderTokens) {
		t.Errorf("offer %+v, but %d results are masked", o, edits)
	}
	if older, _ := all.Mask(20); older.Needs >= o.Needs || older.Level <= o.Level || older.Prefix != o.Prefix {
		t.Errorf("offer for results older than 20 turns %+v, older than 10 turns %+v", older, o)
	}
}

// An offer does not count on tokens that a mask or a cut cannot free: the first and the
// last results, and the open round.
func TestOffersOmitTokensThatStay(t *testing.T) {
	msgs := append(loopOf(6, 500), message.User("and?"), message.Assistant("I look.", message.Call("x", "read", "{}"), message.Call("y", "read", "{}")), message.ToolResult("x", strings.Repeat("word ", 500)))
	v := policy.NewView(msgs, policy.Pins{message.RoleSystem}, byWords{})
	for name, m := range map[string]policy.Mask{"the first": {KeepFirst: 2}, "the last": {KeepLast: 3}, "none": {}} {
		m.Turns = 1
		p, err := m.Propose(t.Context(), v)
		if err != nil || len(p.Groups) != 1 {
			t.Fatal(err)
		}
		if o, ok := OffersOf(v, m).Mask(1); !ok || o.Gone != len(p.Groups[0])*(504-placeholderTokens) {
			t.Errorf("%s stay: offer %+v, but %d results are masked", name, o, len(p.Groups[0]))
		}
	}
	left := v.Tokens[0]
	for i := v.Anchor; i < len(msgs); i++ {
		left += v.Tokens[i]
	}
	if o, ok := OffersOf(v, policy.Mask{}).Cut(1, 0, 10); !ok || o.Level != left+10 {
		t.Errorf("offer %+v, but %d tokens stay", o, left)
	}
}

// Two calls of one answer are two pairs: an offer keeps as many rounds as the cut will.
func TestOffersCountEachCallOfARound(t *testing.T) {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Go on.")}
	for i := range 8 {
		a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
		msgs = append(msgs, message.Assistant("I look.", message.Call(a, "read", "{}"), message.Call(b, "read", "{}")),
			message.ToolResult(a, strings.Repeat("word ", 500)), message.ToolResult(b, strings.Repeat("word ", 500)))
	}
	v := policy.NewView(msgs, policy.Pins{message.RoleSystem}, byWords{})
	for pairs, gone := range map[int]int{2: 7, 4: 6, 5: 5} { // rounds that go
		v.Keep.Pairs = pairs
		want := 0
		for i := range gone {
			want += v.Tokens[2+3*i] + v.Tokens[3+3*i] + v.Tokens[4+3*i]
		}
		if o, ok := OffersOf(v, policy.Mask{}).Cut(1, 0, 10); !ok || o.Gone != want {
			t.Errorf("%d pairs stay: %d tokens go, want %d", pairs, o.Gone, want)
		}
	}
}

// The rates in the table fall with age. An age between two entries has the rate of the
// lower age.
func TestNeedsFallWithAge(t *testing.T) {
	result, said := message.ToolResult("c", "x"), message.User("x")
	for _, m := range []*message.Message{&result, &said} {
		for age := 1; age < 200; age++ {
			if a, b := needsOf(m, age), needsOf(m, age+1); b > a || b <= 0 {
				t.Errorf("%s: %v at %d turns, %v at %d", m.Role, a, age, b, age+1)
			}
		}
	}
	for k, age := range needAges {
		if at, before := needsOf(&result, age), needsOf(&result, age-1); at != resultNeeds[k] || before != resultNeeds[max(k-1, 0)] || needsOf(&said, age) != saidNeeds[k] {
			t.Errorf("%v at %d turns, %v a turn before; the table has %v", at, age, before, resultNeeds)
		}
	}
}

func BenchmarkOffers(b *testing.B) {
	v := offered(500, 300)
	v.Keep.Pairs = 4
	for b.Loop() {
		all := OffersOf(v, policy.Mask{KeepFirst: 2})
		for _, k := range []int{6, 12, 20, 30, 45, 70} {
			for _, m := range []int{0, 6, 10, 16, 24} {
				all.Cut(k, m, 2000)
			}
		}
	}
}

// The only user message stays, however old it is and also without a system prompt before it.
func TestCutOfferKeepsTheOnlyUserMessage(t *testing.T) {
	for from := range 2 {
		v := policy.NewView(loopOf(6, 500)[from:], policy.Pins{message.RoleSystem}, byWords{})
		first, gone := v.Rounds[v.Turns[len(v.Turns)-1].First].Start, 0
		for i := v.Anchor + 1; i < first; i++ {
			gone += v.Tokens[i]
		}
		if o, ok := OffersOf(v, policy.Mask{}).Cut(1, 0, 10); !ok || o.Gone != gone || gone == 0 {
			t.Errorf("%d messages before the user's: %d tokens are gone, want %d", v.Anchor, o.Gone, gone)
		}
	}
}

// An offer counts what a mask can free: not small and pinned results, and not the pairs that
// stay. Messages without a call are no pairs.
func TestMaskOfferLeavesOutResultsThatStay(t *testing.T) {
	msgs := loopOf(8, 500)
	msgs[5].Protected = true
	msgs[7] = message.ToolResult("c2", "small")
	msgs = append(msgs, message.Assistant("a"), message.Assistant("b"), message.Assistant("c"))
	for pairs, masked := range map[int]int{0: 6, 1: 5, 2: 4, 99: 0} {
		for _, from := range []int{0, 2} { // with and without instructions and a user message
			v := policy.NewView(msgs[from:], policy.Pins{message.RoleSystem}, byWords{})
			v.Keep.Pairs = pairs
			gone := 0
			for _, i := range v.Partition(policy.Keep{Turns: 1, Pairs: pairs}).Remainder {
				gone += v.Tokens[i]
			}
			if o, ok := OffersOf(v, policy.Mask{}).Cut(1, 0, 1); o.Gone != gone && ok || ok != (gone > 1) {
				t.Errorf("%d pairs stay: offer %+v, but %d tokens are in the remainder", pairs, o, gone)
			}
			m := policy.Mask{Turns: 1, MinTokens: 50}
			if o, ok := OffersOf(v, m).Mask(1); ok != (masked > 0) || o.Gone != masked*(504-placeholderTokens) {
				t.Errorf("%d pairs stay: offer %+v, want %d results", pairs, o, masked)
			}
		}
	}
	v := policy.NewView(loopOf(12, 500), policy.Pins{message.RoleSystem}, byWords{})
	v.Keep.Pairs = 6
	all := OffersOf(v, policy.Mask{})
	cut, _ := all.Cut(4, 0, 10)
	if masked, ok := all.Cut(4, 1, 10); !ok || masked.Gone != cut.Gone {
		t.Errorf("%d tokens go with masks, %d without: the pairs that stay have all results of the kept turns", masked.Gone, cut.Gone)
	}
}
