package reduce

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// observed returns a conversation of calls with one or two results each. Some results are
// masked, and some are truncated.
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
	var edits []policy.Edit
	for i := range history {
		for p := range history[i].Parts {
			if history[i].Parts[p].Kind != message.KindToolResult || r.IntN(3) > 0 {
				continue
			}
			e := policy.Edit{Decision: policy.Truncated, Text: &policy.TextEdit{Index: i, Part: p, Segments: []policy.Segment{{To: 4}, {Lit: " "}, {Mark: &policy.Mark{Form: formname.Observation, Chars: 50 + i, Ref: "3f9a2c1b77de"}}}}}
			if r.IntN(2) == 0 {
				e.Decision, e.Text.Segments = policy.Masked, e.Text.Segments[2:]
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
func TestMaskStateMatchesTheOrigins(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	masks, cuts := 0, 0
	for range 20 {
		_, c := observed(t, r, 1+r.IntN(100))
		for i := range c.Len() {
			it, chars := c.items.at(i), 0
			for p := range it.m.Parts {
				o, known := c.Origin(i, p)
				if masked, is := it.masks(p); masked != o.Masked || is != known {
					t.Fatalf("part %d of message %d: masked is %v, known is %v; by its origin %v, %v", p, i, masked, is, o.Masked, known)
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

// If a part is edited again, its newest edit is its origin, beside the edits of other parts.
func TestOriginOfAPartIsItsNewestEdit(t *testing.T) {
	mark := func(part, chars int, d policy.Decision) policy.Edit {
		return policy.Edit{Decision: d, Text: &policy.TextEdit{Index: 0, Part: part, Segments: []policy.Segment{{Mark: &policy.Mark{Form: formname.Observation, Chars: chars, Ref: "3f9a2c1b77de"}}}}}
	}
	two := message.ToolResult("a", strings.Repeat("some output ", 9))
	two.Parts = append(two.Parts, message.ToolResult("b", strings.Repeat("more of it ", 7)).Parts...)
	c := NewConversation([]message.Message{two}, nil, nil)
	for _, e := range []policy.Edit{mark(0, 50, policy.Truncated), mark(1, 60, policy.Masked), mark(0, 70, policy.Masked)} {
		var err error
		if c, err = c.Apply([]policy.Edit{e}); err != nil {
			t.Fatal(err)
		}
	}
	for part, chars := range []int{70, 60} {
		if o, known := c.Origin(0, part); !known || o.Chars != chars || !o.Masked {
			t.Errorf("part %d: %+v, known %v; want %d characters, masked", part, o, known, chars)
		}
	}
}

func TestRedecidedReturnsChangedDecisions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		c, after := observed(t, r, 1+r.IntN(200))
		one, err := after.Apply([]policy.Edit{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{1, 2}, Recent: 3}}})
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

// A view that grows step by step knows the traits of each message.
func TestViewsKnowTheTraitsOfTheirMessages(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	e := &Engine{Cost: charCost{}}
	c, after := observed(t, r, 90)
	q := Request{Conversation: c}
	v := e.View(c, q)
	o := &Outcome{Conversation: c, View: v}
	v = e.after(o, []policy.Edit{{Text: &policy.TextEdit{Index: 2, Part: 0}}}, after, q, e.later(0))
	grown := after.Append([]message.Message{policy.NewSummary(2, "what was done"), message.User("go on"), message.ToolResult("a1", "late")})
	v = e.Grow(v, grown, Request{Conversation: grown})
	results, summaries := 0, 0
	for i := range v.Messages {
		if v.HasResult(i) != v.Messages[i].Has(message.KindToolResult) || v.Summary(i) != policy.IsSummary(v.Messages[i]) {
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

// Pages that two conversations share hold no changed decision. The message after such a
// page is compared again.
func TestRedecidedFindsTheFirstMessageAfterASharedPage(t *testing.T) {
	c := NewConversation(numbered(3*pageLen), nil, nil)
	for _, at := range []int{0, pageLen - 1, pageLen, 2 * pageLen, 3*pageLen - 1} {
		after, err := c.Apply([]policy.Edit{{Decision: policy.Truncated, Text: &policy.TextEdit{Index: at, Segments: []policy.Segment{{To: 1}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Redecided(after); !slices.Equal(got, []int{at}) {
			t.Errorf("an edit of message %d: %v", at, got)
		}
	}
}

// numbered returns n results with different texts.
func numbered(n int) (msgs []message.Message) {
	for i := range n {
		msgs = append(msgs, message.ToolResult(fmt.Sprint(i), fmt.Sprint(i, " ", strings.Repeat("x", 100))))
	}
	return msgs
}

// Several stages, or several steps, can edit different parts of one message. Each part
// keeps its origin, and the message keeps the stronger decision.
func TestPartsEditedOneAfterTheOtherKeepTheirOrigins(t *testing.T) {
	three := message.ToolResult("a", strings.Repeat("some output ", 9))
	for _, id := range []string{"b", "c"} {
		three.Parts = append(three.Parts, message.ToolResult(id, strings.Repeat("some output ", 9)).Parts...)
	}
	c := NewConversation([]message.Message{three}, nil, nil)
	for p, d := range []policy.Decision{policy.Masked, policy.Truncated, policy.Truncated} {
		segments := []policy.Segment{{To: 4}, {Mark: &policy.Mark{Form: formname.Observation, Chars: 100 + p, Tokens: 20 + p}}}
		after, err := c.Apply([]policy.Edit{{Decision: d, Reason: fmt.Sprint(p), Text: &policy.TextEdit{Part: p, Segments: segments}}})
		if err != nil {
			t.Fatal(err)
		}
		c = after
	}
	for p := range 3 {
		want := policy.Origin{Chars: 100 + p, Tokens: 20 + p, Masked: p == 0}
		if o, known := c.Origin(0, p); !known || o != want {
			t.Errorf("part %d: %+v, %v, want %+v", p, o, known, want)
		}
	}
	if d, reason := c.Decision(0); d != policy.Masked || reason != "0" {
		t.Errorf("the message is %s (%s), want masked", d, reason)
	}
}

// Two results can have equal placeholders. The ledger then knows the origin of one of
// them, and a message that was edited in this view keeps its own.
func TestRecognizeKeepsOriginsOfThisView(t *testing.T) {
	before := NewConversation(numbered(2), nil, nil)
	mark := policy.Mark{Form: formname.Observation, Chars: 102, Ref: "3f9a2c1b77de"}
	c, err := before.Apply([]policy.Edit{{Decision: policy.Masked, Text: &policy.TextEdit{Index: 0, Segments: []policy.Segment{{Mark: &mark}}}}})
	if err != nil {
		t.Fatal(err)
	}
	other := policy.Origin{Chars: 102, Ref: "000000000000", Masked: true}
	c.Recognize(0, func(message.Fingerprint) map[int]policy.Origin { return map[int]policy.Origin{0: other} })
	for i, want := range []policy.Origin{mark.Origin(true), other} {
		if got, ok := c.Origin(i, 0); !ok || got != want {
			t.Errorf("message %d: %+v, want %+v", i, got, want)
		}
	}
}

// A caller knows the costs of the input only. An edited message has its own cost.
func TestViewCountsEditedMessagesAgain(t *testing.T) {
	history := numbered(4)
	e, costs := &Engine{Cost: charCost{}}, []int(nil)
	for i := range history {
		costs = append(costs, e.Cost.Message(history[i]))
	}
	c, err := NewConversation(history, nil, nil).Apply([]policy.Edit{{Decision: policy.Truncated, Text: &policy.TextEdit{Index: 2, Segments: []policy.Segment{{To: 7}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if v := e.View(c, Request{Conversation: c, Costs: costs}); v.Tokens[2] != 7 || v.Total() != costs[0]+costs[1]+7+costs[3] {
		t.Errorf("the messages cost %v, want 7 for the one that was cut", v.Tokens)
	}
}

// A list of edits may hold two edits of one part. The second edit applies to the text
// after the first edit.
func TestApplyMakesTwoEditsOfOnePartInOrder(t *testing.T) {
	c := NewConversation([]message.Message{message.ToolResult("a", "abcdefgh")}, nil, nil)
	edit := func(segments ...policy.Segment) policy.Edit {
		return policy.Edit{Decision: policy.Truncated, Text: &policy.TextEdit{Segments: segments}}
	}
	after, err := c.Apply([]policy.Edit{edit(policy.Segment{To: 2}, policy.Segment{Lit: "-"}, policy.Segment{From: 4, To: 8}), edit(policy.Segment{From: 1, To: 5})})
	if err != nil {
		t.Fatal(err)
	}
	if got := after.Messages()[0].ResultText(); got != "b-ef" {
		t.Errorf("%q, want %q", got, "b-ef")
	}
}

// A conversation renders the forms that it was made with, and those that were added.
func TestApplyRendersTheFormsOfTheConversation(t *testing.T) {
	c := NewConversation(numbered(1), nil, policy.Forms{"custom@1": "[gone: {chars}]", "custom@2": "[gone]"})
	for form, want := range map[string]string{"custom@1": "[gone: 102]", "custom@2": "[left out]", "custom@3": "[removed]"} {
		edits := []policy.Edit{{Decision: policy.Masked, Text: &policy.TextEdit{Segments: []policy.Segment{{Mark: &policy.Mark{Form: form, Chars: 102}}}}}}
		d, err := c.WithForms(policy.Forms{"custom@2": "[left out]", "custom@3": "[removed]"}).Apply(edits)
		if err != nil || d.Messages()[0].ResultText() != want {
			t.Errorf("%s: %v, want %s", form, err, want)
		}
	}
	if _, err := c.Apply([]policy.Edit{{Text: &policy.TextEdit{Segments: []policy.Segment{{Mark: &policy.Mark{Form: "custom@3"}}}}}}); err == nil {
		t.Error("a form of another conversation is rendered")
	}
}

// An edit without a mark has no origin: the ledger knows no original of such a text. An
// origin that a placeholder states may be of any size.
func TestOriginsComeFromMarks(t *testing.T) {
	for chars, segments := range map[int][]policy.Segment{0: {{To: 3}}, 102: {{Mark: &policy.Mark{Form: formname.Observation, Chars: 102}}}, 1 << 40: {{Mark: &policy.Mark{Form: formname.Observation, Chars: 1 << 40}}}} {
		c, err := NewConversation(numbered(1), nil, nil).Apply([]policy.Edit{{Decision: policy.Masked, Text: &policy.TextEdit{Segments: segments}}})
		if err != nil {
			t.Fatal(err)
		}
		if o, known := c.Origin(0, 0); known != (chars > 0) || o.Chars != chars || c.MaskedChars(0) != chars {
			t.Errorf("%d characters: %+v, %v, %d masked", chars, o, known, c.MaskedChars(0))
		}
	}
}

// The size of media is in bytes, so that it is no number of masked characters.
func TestMaskedCharsLeaveOutMedia(t *testing.T) {
	two := message.ToolResult("a", strings.Repeat("x", 200))
	two.Parts = append(two.Parts, message.ToolResult("b", strings.Repeat("y", 200)).Parts...)
	text, media := policy.Mark{Form: formname.Observation, Chars: 200}, policy.Mark{Form: formname.Media, What: "image", Chars: 4096, Ref: "3f9a2c1b77de"}
	for want, marks := range map[int][]policy.Mark{0: {media}, 200: {text, media}, 400: {text, text}} {
		var edits []policy.Edit
		for p := range marks {
			edits = append(edits, policy.Edit{Decision: policy.Masked, Text: &policy.TextEdit{Part: p, Segments: []policy.Segment{{Mark: &marks[p]}}}})
		}
		c, err := NewConversation([]message.Message{two, message.User("x")}, nil, nil).Apply(edits)
		if err != nil || c.MaskedChars(0) != want || c.MaskedChars(1) != 0 {
			t.Errorf("%d characters are masked, want %d; %v", c.MaskedChars(0), want, err)
		}
	}
}

// A link identifies the unpinned messages of a prefix, their order included.
func TestLinksDependOnEachMessageAndItsPlace(t *testing.T) {
	of := func(texts ...string) (l Link) {
		var msgs []message.Message
		for _, s := range texts {
			msgs = append(msgs, message.System("rule"), message.User(s))
		}
		c := NewConversation(msgs, policy.Pins{message.RoleSystem}, nil)
		return c.Chain().At(c, 2)
	}
	seen := map[Link]string{}
	for _, texts := range [][]string{{"a", "b"}, {"b", "a"}, {"c", "b"}, {"a", "c"}, {"a"}} {
		l := of(texts...)
		if other, again := seen[l]; again || l.N != len(texts) {
			t.Errorf("%v has the link %v, as %s", texts, l, other)
		}
		seen[l] = fmt.Sprint(texts)
	}
	if of("a", "b") != of("a", "b", "c") {
		t.Error("a later message changes the link of a prefix")
	}
}
