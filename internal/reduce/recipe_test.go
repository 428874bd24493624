package reduce

import (
	"errors"
	"reflect"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

func TestParseDecisionAcceptsTheOldSpelling(t *testing.T) {
	for d := policy.Kept; d <= policy.Dropped; d++ {
		if got := parseDecision(d.String()); got != d {
			t.Errorf("parseDecision(%s) = %s", d, got)
		}
	}
	if got := parseDecision("summarised"); got != policy.Summarized {
		t.Errorf("parseDecision(summarised) = %s", got)
	}
}

// A changed ledger can state more pinned messages than the conversation has.
func TestReplayLimitsTheNumberOfPinnedMessages(t *testing.T) {
	msgs := []message.Message{message.User("a"), message.Assistant("b"), message.User("c"), message.Assistant("d"), message.System("e"), message.System("f")}
	c := NewConversation(msgs, policy.Pins{message.RoleSystem}, nil)
	r := Recipe{Stage: "x", Cut: &CutRecipe{Removed: [][2]int{{0, 2}}, Recent: 4, Pins: 99, Decision: "dropped", Notice: 2}}
	d, err := c.Replay(r)
	if err != nil || d.Len() != 5 {
		t.Errorf("%v: %v", d.Sources(), err)
	}
	for _, wrong := range []CutRecipe{{Removed: [][2]int{{-1, 2}}}, {Removed: [][2]int{{0, 9}}}, {Removed: [][2]int{{2, 1}}}, {Recent: -1}, {Recent: 9}} {
		if _, err := c.Replay(Recipe{Cut: &wrong}); !errors.Is(err, policy.ErrEdit) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if d, err := NewConversation(nil, nil, nil).Replay(Recipe{Cut: &CutRecipe{First: true}}); err != nil || d.Len() != 0 {
		t.Errorf("the first message of none: %v", err)
	}
}

// An edit of a message that the step removed afterwards does not last; edits of messages
// that stay, and of messages that the engine wrote, do.
func TestLastingLeavesOutEditsOfRemovedMessages(t *testing.T) {
	c := NewConversation([]message.Message{message.User("a"), message.Assistant("b"), message.User("c"), message.Assistant("d")}, nil, nil)
	d, err := c.Replay(Recipe{Stage: "x", Cut: &CutRecipe{Removed: [][2]int{{0, 2}}, Recent: 2, Decision: "dropped", Notice: 2}})
	if err != nil {
		t.Fatal(err)
	}
	p := &Pass{Recipe: Recipe{Stage: "mask", Texts: []TextRecipe{{At: 1}, {At: 3}, {At: 0}, {At: 2}}}, Sources: []int{1, 3, -1, 0}}
	got := (&Outcome{Conversation: d}).Lasting(p)
	if want := []TextRecipe{{At: 3}, {At: 0}}; got.Stage != "mask" || !reflect.DeepEqual(got.Texts, want) || len(p.Recipe.Texts) != 4 {
		t.Errorf("%+v of %+v", got, p.Recipe)
	}
}

func TestTrailRejectsAnEmptyPrefix(t *testing.T) {
	trail := NewTrail([]message.Message{message.User("a")}, nil, nil, nil)
	for _, l := range []Link{{}, {Hash: trail.chain.at(trail.conv, 0)}, {N: -1}, {N: 2}} {
		if trail.Has(l) {
			t.Errorf("the trail accepts the prefix %+v", l)
		}
	}
}

// Edits of a stage that do not fit the conversation are an error, and change nothing.
func TestApplyRefusesEditsThatDoNotFit(t *testing.T) {
	c := NewConversation([]message.Message{message.User("a"), message.Assistant("b"), message.User("c"), message.Assistant("", message.Call("x", "bash", "{}"))}, nil, nil)
	text := func(index, part int) policy.Edit {
		return policy.Edit{Decision: policy.Truncated, Text: &policy.TextEdit{Index: index, Part: part, Segments: []policy.Segment{{Lit: "x"}}}}
	}
	cut := func(c policy.Cut) policy.Edit { return policy.Edit{Decision: policy.Dropped, Cut: &c} }
	invalid := message.Assistant("\xff")
	call := policy.Edit{Decision: policy.Truncated, Text: &policy.TextEdit{Index: 3, Segments: []policy.Segment{{Lit: "x"}}}}
	for name, e := range map[string]policy.Edit{
		"a message far behind the last": text(1<<20, 0),
		"the arguments of a call":       call,
		"a message before the first":    text(-1, 0),
		"a message behind the last":     text(4, 0),
		"a part before the first":       text(0, -1),
		"a part behind the last":        text(0, 1),
		"a removed message too far":     cut(policy.Cut{Removed: []int{4}, Recent: 3}),
		"a removed message before":      cut(policy.Cut{Removed: []int{-1}, Recent: 3}),
		"a message removed twice":       cut(policy.Cut{Removed: []int{0, 0}, Recent: 3}),
		"a recent span too far":         cut(policy.Cut{Removed: []int{0}, Recent: 5}),
		"a recent span before":          cut(policy.Cut{Removed: []int{0}, Recent: -1}),
		"a summary that no ledger has":  cut(policy.Cut{Removed: []int{0}, Recent: 1, New: &invalid}),
		"nothing":                       {},
		"a text and a cut in one edit":  {Text: text(0, 0).Text, Cut: &policy.Cut{}},
		"a range behind the text's end": {Text: &policy.TextEdit{Segments: []policy.Segment{{To: 2}}}},
	} {
		if d, err := c.Apply([]policy.Edit{e}); !errors.Is(err, policy.ErrEdit) || d != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, behind := range map[string]policy.Edit{"a text": text(0, 0), "a cut": cut(policy.Cut{Removed: []int{0}, Recent: 1})} {
		if d, err := c.Apply([]policy.Edit{call, behind}); !errors.Is(err, policy.ErrEdit) || d != nil {
			t.Errorf("the arguments of a call, and %s: %v", name, err)
		}
	}
	if c.Len() != 4 || c.Messages()[0].Text() != "a" || !c.Holds(0) {
		t.Error("the conversation was changed")
	}
}

// A stage can describe an attempt to summarize although a notice replaces the messages.
// The replay repeats the notice.
func TestReplayPrefersTheNotice(t *testing.T) {
	c := NewConversation([]message.Message{message.User("a"), message.Assistant("b"), message.User("c")}, nil, nil)
	for notice, want := range map[int]string{0: "what happened", 2: policy.NewNotice(2).Text()} {
		d, err := c.Replay(Recipe{Cut: &CutRecipe{Removed: [][2]int{{0, 2}}, Recent: 2, Decision: "dropped", Notice: notice, Summary: &policy.SummaryInfo{Text: "what happened"}}})
		if err != nil || d.Len() != 2 || d.Messages()[0].Text() != want {
			t.Errorf("notice %d: %v, %v", notice, d, err)
		}
	}
}

// The ledger of one compaction has the same bytes in every process: the copies of several
// messages before one place have an order, too.
func TestRecordedCopiesHaveAnOrder(t *testing.T) {
	msgs := []message.Message{message.User("go"), message.System("no copy")}
	for range 2 {
		msgs = append(msgs, message.System("a"), message.System("b"), message.Developer("c"))
	}
	c := NewConversation(append(msgs, message.Assistant("gone")), policy.Pins{message.RoleSystem, message.RoleDeveloper}, nil)
	edits := []policy.Edit{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{2, 3, 4}, Copies: true}}}
	after, err := c.Apply(edits)
	if err != nil {
		t.Fatal(err)
	}
	want := c.Record("duplicates", edits, after)
	if len(want.Copies) != 3 {
		t.Fatalf("%d copies are recorded", len(want.Copies))
	}
	for range 20 {
		if got := c.Record("duplicates", edits, after); !reflect.DeepEqual(got, want) {
			t.Fatalf("recorded %+v, and before %+v", got, want)
		}
	}
}

// A ledger that was changed can name copies that there are not. The replay removes no
// message for them, or is an error.
func TestReplayRemovesOnlyTheRecordedCopies(t *testing.T) {
	rule := message.System("rule")
	c := NewConversation([]message.Message{message.User("go"), rule, rule, message.Assistant("on"), rule, message.User("end")}, policy.Pins{message.RoleSystem}, nil)
	of := rule.Fingerprint()
	for name, tc := range map[string]struct {
		r    CopyRecipe
		left int // -1: an error
	}{
		"as recorded":                {CopyRecipe{Of: of, At: 1, Had: 2, Gone: []int{0, 1}}, 4},
		"another number":             {CopyRecipe{Of: of, At: 1, Had: 1, Gone: []int{0}}, 6},
		"a copy before the first":    {CopyRecipe{Of: of, At: 1, Had: 2, Gone: []int{-1}}, 6},
		"a copy behind the last":     {CopyRecipe{Of: of, At: 1, Had: 2, Gone: []int{2}}, 6},
		"the newest one":             {CopyRecipe{Of: of, At: 2, Had: 1, Gone: []int{0}}, 6},
		"a message that is not here": {CopyRecipe{At: 1, Had: 0, Gone: []int{0}}, 6},
		"a place before the first":   {CopyRecipe{Of: of, At: -1, Had: 2, Gone: []int{0}}, -1},
		"a place behind the last":    {CopyRecipe{Of: of, At: 3, Had: 2, Gone: []int{0}}, -1},
	} {
		d, err := c.Replay(Recipe{Copies: []CopyRecipe{tc.r}})
		if tc.left < 0 && !errors.Is(err, policy.ErrEdit) || tc.left >= 0 && (err != nil || d.Len() != tc.left) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}
