package reduce

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// dialogue has two instructions in front of its last message. Its ordinals are 0 to 4.
func dialogue() []message.Message {
	return []message.Message{message.User("a"), message.Assistant("b"), message.User("c"), message.Assistant("dddd"), message.System("s"), message.System("t"), message.Assistant("e")}
}

var onlySystem = policy.Pins{message.RoleSystem}

// A recipe states the places of a cut in unpinned messages, and what a replay needs to find
// the same order again.
func TestRecordStatesThePlacesOfACut(t *testing.T) {
	c := NewConversation(dialogue(), onlySystem, nil)
	anchor := c.Messages()[2].Fingerprint()
	notice := policy.NewNotice(3)
	for name, tc := range map[string]struct {
		cut  policy.Cut
		want CutRecipe
	}{
		"the last user message in front":  {policy.Cut{Removed: []int{0, 1, 3}, Recent: 6, New: &notice}, CutRecipe{Removed: [][2]int{{0, 2}, {3, 4}}, Recent: 4, Pins: 2, Notice: 3, Anchor: &anchor}},
		"the last user message is recent": {policy.Cut{Removed: []int{0, 1}, Recent: 2, Behind: true}, CutRecipe{Removed: [][2]int{{0, 2}}, Recent: 2, Behind: true}},
		"between two instructions":        {policy.Cut{Removed: []int{1}, Recent: 5, First: true}, CutRecipe{Removed: [][2]int{{1, 2}}, Recent: 4, Pins: 1, First: true, Anchor: &anchor}},
	} {
		edits := []policy.Edit{{Decision: policy.Dropped, Reason: "old", Cut: &tc.cut}}
		after, err := c.Apply(edits)
		if err != nil {
			t.Fatal(err)
		}
		tc.want.Decision, tc.want.Reason = "dropped", "old"
		r := c.Record("drop", edits, after)
		if r.Stage != "drop" || !reflect.DeepEqual(*r.Cut, tc.want) || !r.Removes() {
			t.Errorf("%s: %+v, want %+v", name, r.Cut, tc.want)
		}
		if again, err := c.Replay(r); err != nil || !slices.Equal(again.Sources(), after.Sources()) {
			t.Errorf("%s: replayed %v, %v, want %v", name, again.Sources(), err, after.Sources())
		}
	}
	front := NewConversation([]message.Message{message.System("s"), message.Assistant("b"), message.Assistant("c")}, onlySystem, nil)
	edits := []policy.Edit{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{1}, Recent: 1}}}
	after, _ := front.Apply(edits)
	if r := front.Record("drop", edits, after); r.Cut.Pins != 1 || r.Cut.Recent != 0 || r.Cut.Anchor != nil {
		t.Errorf("without a user message: %+v", r.Cut)
	}
	if (&Recipe{}).Removes() || !(&Recipe{Copies: []CopyRecipe{{}}}).Removes() {
		t.Error("a recipe removes messages if it has a cut or copies")
	}
}

// A recipe of a text names the message before and after the edit. A message that the same
// edits remove has no form after them. A replay finds the message, or is an error.
func TestRecordStatesTheTextBeforeAndAfter(t *testing.T) {
	c := NewConversation(dialogue(), onlySystem, nil)
	mark := &policy.Mark{Form: formname.Observation, Chars: 4, Ref: "3f9a2c1b77de"}
	edits := []policy.Edit{
		{Decision: policy.Truncated, Reason: "long", Text: &policy.TextEdit{Index: 3, Segments: []policy.Segment{{To: 2}}}},
		{Decision: policy.Masked, Text: &policy.TextEdit{Index: 1, Segments: []policy.Segment{{Lit: "x"}, {Mark: mark}}}},
		{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{1}, Recent: 2}},
	}
	after, err := c.Apply(edits)
	if err != nil {
		t.Fatal(err)
	}
	r := c.Record("x", edits, after)
	is := message.Assistant("dd").Fingerprint()
	if got := r.Texts[0]; got.At != 3 || got.Was != c.Messages()[3].Fingerprint() || got.Is != is || got.Decision != "truncated" || got.Reason != "long" || r.Texts[1].Is != (message.Fingerprint{}) {
		t.Errorf("recorded %+v", r.Texts)
	}
	if o, ok := r.Texts[1].OriginOf(); !ok || o != mark.Origin(true) {
		t.Errorf("origin %+v, %v, want the one of the mark", o, ok)
	}
	if o, ok := r.Texts[0].OriginOf(); ok {
		t.Errorf("origin %+v without a mark", o)
	}
	if again, err := c.Replay(r); err != nil || !slices.Equal(again.Sources(), after.Sources()) || again.Holds(1) || !again.Holds(3) {
		t.Errorf("replayed %v, %v", again, err)
	}
	unknown := r.Texts[0]
	unknown.Segments = []policy.Segment{{Mark: &policy.Mark{Form: "unknown"}}}
	if d, err := c.Replay(Recipe{Texts: []TextRecipe{unknown}}); err == nil || d != nil {
		t.Errorf("an unknown form is replayed: %v", d)
	}
	for _, at := range []int{-1, 2, 5, 64} {
		wrong := r.Texts[0]
		wrong.At = at
		if d, err := c.Replay(Recipe{Texts: []TextRecipe{wrong}}); !errors.Is(err, policy.ErrEdit) || d != nil {
			t.Errorf("a text at %d: %v", at, err)
		}
	}
}

// A conversation holds its input messages but those that were summarized or dropped.
func TestHoldsMessagesThatAreLeft(t *testing.T) {
	for decision, left := range map[string]bool{"summarized": false, "dropped": false} {
		c, err := NewConversation(dialogue(), onlySystem, nil).Replay(Recipe{Cut: &CutRecipe{Removed: [][2]int{{0, 2}}, Recent: 2, Decision: decision}})
		if err != nil {
			t.Fatal(err)
		}
		for src, want := range map[int]bool{-1: false, 0: left, 1: left, 2: true, 6: true, 7: false, 64: false} {
			if got := c.Holds(src); got != want {
				t.Errorf("%s: message %d is held: %v, want %v", decision, src, got, want)
			}
		}
		if n := c.Unpinned(); n != 3 {
			t.Errorf("%s: %d unpinned messages are left, want 3", decision, n)
		}
	}
}

// A replay moves as many instructions in front of the recent span as the recipe states, and
// an unknown last user message moves nothing.
func TestReplayMovesTheStatedInstructions(t *testing.T) {
	c := NewConversation(dialogue(), onlySystem, nil)
	unknown := message.Fingerprint{1}
	for pins, want := range map[int][]int{0: {-1, 2, 4, 5, 6}, 1: {4, -1, 2, 5, 6}, 2: {4, 5, -1, 2, 6}, 3: {4, 5, -1, 2, 6}} {
		d, err := c.Replay(Recipe{Cut: &CutRecipe{Removed: [][2]int{{0, 2}, {3, 4}}, Recent: 4, Pins: pins, Decision: "dropped", Notice: 3, Anchor: &unknown}})
		if err != nil || !slices.Equal(d.Sources(), want) {
			t.Errorf("%d instructions: %v, %v, want %v", pins, d.Sources(), err, want)
		}
	}
}

// Only the known edits of input messages are recognized.
func TestRecognizeLeavesOtherMessagesWithoutAnOrigin(t *testing.T) {
	c, err := NewConversation(dialogue(), onlySystem, nil).Replay(Recipe{Cut: &CutRecipe{Removed: [][2]int{{0, 1}}, Recent: 1, Decision: "dropped", Notice: 1}})
	if err != nil {
		t.Fatal(err)
	}
	edited := c.Messages()[1].Fingerprint()
	known := func(fp message.Fingerprint) map[int]policy.Origin {
		if notice := c.Messages()[0].Fingerprint(); fp == edited || fp == notice {
			return map[int]policy.Origin{0: {Chars: 7}}
		}
		return nil
	}
	c.Recognize(0, known)
	trail := NewTrail(dialogue(), onlySystem, nil, known)
	trail.Whole()
	for name, tc := range map[string]struct {
		c  *Conversation
		at int
	}{"a conversation": {c, 1}, "a trail": {trail.conv, 1}} {
		for i := range tc.c.Len() {
			if o, ok := tc.c.Origin(i, 0); ok != (i == tc.at) || ok && o.Chars != 7 {
				t.Errorf("%s: message %d has the origin %+v, %v", name, i, o, ok)
			}
		}
	}
}

// A trail knows its length and its links before and after it has read its messages.
func TestTrailCountsUnpinnedMessages(t *testing.T) {
	c := NewConversation(dialogue(), onlySystem, nil)
	whole := c.Chain().At(c, 99)
	trail := NewTrail(dialogue(), onlySystem, nil, nil)
	for _, l := range []Link{{N: 9, Hash: whole.Hash}, c.Chain().At(c, 2), whole} {
		if ok := trail.Has(l); ok != (l.N <= 5) || trail.Len() != 5 {
			t.Errorf("a prefix of %d is found: %v, of %d messages", l.N, ok, trail.Len())
		}
	}
	if got := trail.Whole(); got != whole || whole.N != 5 {
		t.Errorf("the whole is %+v, want %+v", got, whole)
	}
	chain := c.Chain()
	chain.At(c, 5)
	fork := chain.Fork(3)
	d, err := c.Apply([]policy.Edit{{Decision: policy.Truncated, Text: &policy.TextEdit{Index: 3, Segments: []policy.Segment{{To: 2}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if fork.At(d, 5) != d.Chain().At(d, 5) || chain.At(c, 5) != whole || fork.At(d, 3) != whole3(c) {
		t.Error("a fork has other links than its conversation, or has changed the chain")
	}
}

func whole3(c *Conversation) Link { return c.Chain().At(c, 3) }

// A step is made as a whole, with its own forms, or not at all. A history without a user
// message, or one that ends with an answer that a step removed, is no obstacle.
func TestTrailMakesWholeSteps(t *testing.T) {
	history := []message.Message{message.System("s"), message.Assistant("one"), message.Assistant("two"), message.Assistant("three")}
	c := NewConversation(history, onlySystem, policy.Forms{"a@1": "[a]"})
	text := func(at int, form string) TextRecipe {
		return TextRecipe{At: at, Was: history[at+1].Fingerprint(), Decision: "masked", Segments: []policy.Segment{{Mark: &policy.Mark{Form: form}}}}
	}
	drop := Recipe{Cut: &CutRecipe{Removed: [][2]int{{0, 1}}, Recent: 1, Decision: "dropped"}}
	out := func(n int, msgs ...message.Message) Link {
		d := NewConversation(msgs, onlySystem, nil)
		return d.Chain().At(d, n)
	}
	a, b := message.Assistant("[a]"), message.Assistant("[b]")
	in := func(n int) Link { return c.Chain().At(c, n) }
	for name, tc := range map[string]struct {
		history []message.Message
		step    TrailStep
		edits   int // 0: an error
		left    int
	}{
		"forms of the trail and of the step": {history, TrailStep{In: in(2), Out: out(2, a, b), Recipes: []Recipe{{Texts: []TextRecipe{text(0, "a@1"), text(1, "b@1")}}}, Forms: policy.Forms{"b@1": "[b]"}}, 2, 3},
		"a cut, and a text behind it":        {history, TrailStep{In: in(2), Out: out(1, a), Recipes: []Recipe{drop, {Texts: []TextRecipe{{At: 0, Was: history[2].Fingerprint(), Decision: "masked", Segments: text(1, "a@1").Segments}}}}}, 2, 2},
		"the answer that ends the history":   {history[:2], TrailStep{In: in(1), Recipes: []Recipe{drop}}, 1, 0},
		"an unknown form":                    {history, TrailStep{In: in(2), Recipes: []Recipe{{Texts: []TextRecipe{text(0, "a@1"), text(1, "c@1")}}}}, 0, 3},
		"another message":                    {history, TrailStep{In: in(2), Recipes: []Recipe{drop, {Texts: []TextRecipe{text(0, "a@1")}}}}, 0, 3},
	} {
		trail := NewTrail(tc.history, onlySystem, policy.Forms{"a@1": "[a]"}, nil)
		if !trail.Has(tc.step.In) {
			t.Fatalf("%s: the prefix is not found", name)
		}
		n, err := trail.Make(tc.step, nil)
		if n != tc.edits || (err == nil) != (tc.edits > 0) {
			t.Errorf("%s: %d edits, %v", name, n, err)
		}
		if trail.Len() != tc.left || err != nil && !trail.Has(in(3)) {
			t.Errorf("%s: the trail has %d messages, want %d", name, trail.Len(), tc.left)
		}
	}
}
