package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// observed returns a conversation of calls with one or two results each, some of
// them masked and some truncated.
func observed(t *testing.T, r *rand.Rand, n int) (before, after *Conversation) {
	t.Helper()
	history := []message.Message{message.User("go")}
	for i := range n {
		a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
		two := message.ToolResult(a, strings.Repeat("some output ", 9))
		two.Parts = append(two.Parts, message.ToolResult(b, strings.Repeat("more of it ", 7)).Parts...)
		history = append(history, message.Assistant("", message.Call(a, "read", "{}"), message.Call(b, "read", "{}")), two)
	}
	before = NewConversation(history, nil, nil)
	var edits []Edit
	for i := range history {
		for p := range history[i].Parts {
			if history[i].Parts[p].Kind != message.KindToolResult || r.IntN(3) > 0 {
				continue
			}
			e := Edit{Decision: Truncated, Text: &TextEdit{Index: i, Part: p, Segments: []Segment{{To: 4}, {Lit: " "}, {Mark: &Mark{Form: FormObservation, Chars: 50 + i, Ref: "3f9a2c1b77de"}}}}}
			if r.IntN(2) == 0 {
				e.Decision, e.Text.Segments = Masked, e.Text.Segments[2:]
			}
			edits = append(edits, e)
		}
	}
	after, err := before.Apply(edits)
	if err != nil {
		t.Fatal(err)
	}
	return before, after
}

// The mask state of an item agrees with its origins.
func TestMasksAreThoseOfTheOrigins(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	masks, cuts := 0, 0
	for range 20 {
		_, c := observed(t, r, 1+r.IntN(100))
		for i := range c.Len() {
			it, chars := c.items.at(i), 0
			for p := range it.m.Parts {
				o, known := c.Origin(i, p)
				if masked, is := it.masks(p); masked != o.Masked || is != known {
					t.Fatalf("part %d of message %d is masked: %v, known: %v; its origin says %v, %v", p, i, masked, is, o.Masked, known)
				}
				if o.Masked {
					masks, chars = masks+1, chars+o.Chars
				} else if known {
					cuts++
				}
			}
			if n := c.MaskedChars(i); n != chars {
				t.Fatalf("%d characters of message %d are masked, want %d", n, i, chars)
			}
		}
	}
	if masks == 0 || cuts == 0 {
		t.Errorf("%d masks, %d cuts", masks, cuts)
	}
}

func TestRedecidedIsWhatWasDecidedOtherwise(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		c, after := observed(t, r, 1+r.IntN(200))
		one, err := after.Apply([]Edit{{Decision: Dropped, Cut: &Cut{Removed: []int{1, 2}, Recent: 3}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]*Conversation{{c, after}, {after, one}, {c, one}, {c, c}} {
			want := []int{}
			for i := range c.Inputs() {
				was, _ := pair[0].Decision(i)
				is, _ := pair[1].Decision(i)
				if was != is {
					want = append(want, i)
				}
			}
			if got := pair[0].Redecided(pair[1]); !slices.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
}

// A view that was built step by step knows the traits of each message.
func TestViewsKnowWhatTheirMessagesAre(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	e := &Engine{Cost: charCost{}}
	c, after := observed(t, r, 90)
	q := Request{Conversation: c}
	v := e.View(c, q)
	o := &Outcome{Conversation: c, View: v}
	v = e.after(o, []Edit{{Text: &TextEdit{Index: 2, Part: 0}}}, after, q)
	grown := after.Append([]message.Message{NewSummary(2, "what was done"), message.User("go on"), message.ToolResult("a1", "late")})
	v = e.Grow(v, grown, Request{Conversation: grown})
	results, summaries := 0, 0
	for i := range v.Messages {
		if v.HasResult(i) != v.Messages[i].Has(message.KindToolResult) || v.Summary(i) != IsSummary(v.Messages[i]) {
			t.Fatalf("message %d holds a result: %v, is a summary: %v", i, v.HasResult(i), v.Summary(i))
		}
		if v.HasResult(i) {
			results++
		}
		if v.Summary(i) {
			summaries++
		}
	}
	if results != 91 || summaries != 1 {
		t.Errorf("%d results, %d summaries", results, summaries)
	}
}

// The first message of a conversation does not count as room for a stage: it is
// removed last, and some providers need it there.
func TestRoomOfCopiesIsWithoutTheFirst(t *testing.T) {
	rules := message.System("Be brief.")
	msgs := []message.Message{rules, message.User("a"), message.Assistant("b"), rules, message.User("c"), message.Assistant("d"), rules, message.User("e")}
	v := NewView(msgs, Pins{message.RoleSystem}, charCost{})
	if got := v.duplicates(); !slices.Equal(got, []int{3, 0}) {
		t.Fatalf("%v may go", got)
	}
	if got := v.spare(); !slices.Equal(got, []int{3}) {
		t.Errorf("%v are counted on", got)
	}
}

// A copy goes only while something that is not pinned stands behind it. What a stage takes
// away does not.
func TestACopyBehindWhatGoesIsNoRoom(t *testing.T) {
	rules := message.Message{Role: message.RoleDeveloper, Parts: []message.Part{{Kind: message.KindText, Text: "Be brief."}}}
	msgs := []message.Message{message.User("a"), rules, message.Assistant("b"), rules, message.Assistant("and c"), rules}
	v := NewView(msgs, Pins{message.RoleDeveloper}, charCost{})
	if got := v.duplicates(); !slices.Equal(got, []int{1, 3}) {
		t.Fatalf("%v may go", got)
	}
	both := v.Total() - 2*v.Tokens[1]
	if got := v.Without(nil); got != both {
		t.Errorf("%d tokens are left, want %d", got, both)
	}
	if got, want := v.Without([]int{4}), both-v.Tokens[4]+v.Tokens[3]; got != want {
		t.Errorf("%d tokens are left without the last answer, want %d", got, want)
	}
}

// Where the stages that are there could have made the view fit, one of them failed, and
// none is missing.
func TestNoStageIsMissingWhereOneFailed(t *testing.T) {
	v := offered(12, 100)
	v.Keep, v.reach = Keep{Turns: 1, Pairs: 1}, &reach{takers: []Taker{oldRounds{}}}
	v.Budget = Budget{Max: v.Floor(), Cap: v.Floor()}
	if got := v.missing(); len(got) > 0 {
		t.Errorf("%v are missing", got)
	}
	v.reach = &reach{}
	if got := v.missing(); !slices.Equal(got, []string{"summarize"}) {
		t.Errorf("%v are missing, want summarize", got)
	}
}

// Copies that can't go make no room for a round.
func TestShrinkCountsOnNoCopyBehindWhatGoes(t *testing.T) {
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
		t.Errorf("%+v are kept, where copies would have to go that can't", got)
	}
}
